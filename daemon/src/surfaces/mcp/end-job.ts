/** Ends what runs in a terminal session: Ctrl-C first, then with more force. */
import type { Terminal } from '../../core/terminals/session/terminal.ts';
import { Deadline } from '../../kit/deadline.ts';
import { nullOnNow } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';

/**
 * One interrupt may reach a program that ends at this very moment; a loop of the shell would then start the next
 * program. The core sends only one.
 */
const interrupts = 3;
const interruptMs = 500;

/** Returns how the command stands afterwards. */
export async function endJob(
  terminal: Terminal,
  closing: AbortSignal,
): Promise<Pick<ReturnType<Terminal['job']['look']>, 'status' | 'exitCode'>> {
  await terminal.job.begun(closing);
  for (let i = 0; i < interrupts && terminal.job.isRunning && !closing.aborted; i++) {
    // Refused when the shell has ended, or when the program belongs to another account.
    if (!nullOnNow(CoreError, () => terminal.signal('SIGINT'))) break;
    using deadline = new Deadline(interruptMs, closing);
    await terminal.job.over(deadline.signal);
  }
  return terminal.job.isRunning ? await terminal.job.terminate() : terminal.job.look();
}
