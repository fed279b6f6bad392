/** Looks at the system at intervals. */
import { errnoOf, isOutOfDescriptors } from '../errno.ts';

/** A look that finds no free descriptor is left out, because the next one follows. */
export function lookEvery(ms: number, look: () => void): ReturnType<typeof setInterval> {
  return setInterval(() => {
    try {
      look();
    } catch (error) {
      if (!isOutOfDescriptors(errnoOf(error))) throw error;
    }
  }, ms);
}
