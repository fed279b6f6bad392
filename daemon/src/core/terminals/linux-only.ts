/** What a terminal has on Linux only: programs in its foreground, and shells that read a script into themselves. */
import { CoreError } from '../../kit/errors.ts';

/** Throws `not_implemented` elsewhere. */
export function assertLinux(platform: NodeJS.Platform, what: 'exec' | 'signal'): void {
  if (platform !== 'win32') return;
  throw new CoreError('not_implemented', `${what} of a terminal session is there on Linux only`, {
    hint: 'input types into the session; a command of its own runs with POST /v2/commands.',
  });
}
