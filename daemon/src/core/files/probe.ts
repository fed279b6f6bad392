/** Reports whether the daemon can run the ripgrep that it carries. Everything else needs no program. */
import type { Probe } from '../capabilities/capabilities.ts';
import type { FilesCapability } from '../capabilities/report.ts';

/** `ripgrep` is an absolute path. */
export function filesProbe(ripgrep: string, isExecutable: (path: string) => boolean): Probe<FilesCapability> {
  return {
    look() {
      const isThere = isExecutable(ripgrep);
      return {
        status: isThere ? 'ready' : 'degraded',
        missing: isThere ? [] : [`${ripgrep} cannot be run: contents are not searched`],
        warnings: [],
        ripgrep: isThere ? ripgrep : null,
      };
    },
    unknown: { ripgrep: null },
  };
}
