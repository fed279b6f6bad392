/** Looks at the system at intervals. */
import { nullWithoutDescriptor } from '../errno.ts';

/** A look that finds no free descriptor is left out, because the next one follows. */
export function lookEvery(ms: number, look: () => void): ReturnType<typeof setInterval> {
  return setInterval(() => nullWithoutDescriptor(look), ms);
}
