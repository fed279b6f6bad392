/** What the image has for the files plane: everything is built in, ripgrep makes grep faster. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { FilesCapability } from '../capabilities/report.ts';

export interface ProgramView {
  /** The first executable of that name on PATH, now. */
  readonly find: (program: string) => string | null;
  /** The first one that may run with the privileges of the daemon. */
  readonly findTrusted: (program: string) => string | null;
}

/** Ready without ripgrep too: the built-in engine gives the same answers. */
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
