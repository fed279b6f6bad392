/** Records the circumstances of a bench run. */
import { circumstances as ofMachine } from '../tools/machine.mjs';

export interface Circumstances extends ReturnType<typeof ofMachine> {
  readonly runtime: string;
  /** The limit of each server. */
  readonly limit: string;
}

export function circumstances(isLimited: boolean): Circumstances {
  return {
    ...ofMachine(),
    runtime: `Bun ${Bun.version}`,
    limit: isLimited ? 'half a core, 512 MiB' : 'none',
  };
}
