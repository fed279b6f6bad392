/** Reports whether the image has ripgrep, which makes grep faster. Everything else is built in. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { FilesCapability } from '../capabilities/report.ts';

export interface ProgramView {
  /** Returns the first executable with this name on PATH at the time of the call. */
  readonly find: (program: string) => string | null;
  /** Returns the first executable that is safe to run with the daemon's privileges. */
  readonly findTrusted: (program: string) => string | null;
}

/** The status is ready without ripgrep too, because the built-in engine gives the same answers. */
export function filesProbe({ find, findTrusted }: ProgramView): Probe<FilesCapability> {
  return {
    look() {
      const ripgrep = find('rg');
      const isPlanted = ripgrep !== null && findTrusted('rg') === null;
      return {
        status: 'ready',
        missing: ripgrep === null ? ['rg is not on PATH: the built-in engine searches contents'] : [],
        warnings: isPlanted
          ? [
              `${ripgrep} can be changed by others than root, so that it is not run: the built-in engine searches contents`,
            ]
          : [],
        ripgrep,
      };
    },
    unknown: { ripgrep: null },
  };
}
