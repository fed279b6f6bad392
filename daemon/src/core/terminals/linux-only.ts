/** Rejects the terminal features that exist on Linux only: foreground signals and exec. */
import { CoreError } from '../../kit/errors.ts';

/** Throws `not_implemented` on other platforms. */
export function assertLinux(platform: NodeJS.Platform, what: 'exec' | 'signal'): void {
  if (platform !== 'win32') return;
  throw new CoreError('not_implemented', `${what} of a terminal session works on Linux only`, {
    hint: 'Type into the session, or run a command outside the session.',
    next: { operation: 'commands.start' },
  });
}
