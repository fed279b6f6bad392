/** Passes local standard input to a command, at the speed of the command. */
import type { CommandHandle } from '../../../../clients/typescript/src/index.ts';
import { readInput } from './standard-streams.ts';

const pieceBytes = 256 * 1024;
/** The command has ended, or its standard input is closed. */
const closedStatuses: readonly (number | null)[] = [404, 409];

/** Ends at the end of the input, or when the command accepts no more. Throws the reason of `over`. */
export async function passInput(command: CommandHandle, over: AbortSignal): Promise<void> {
  // The reader of the output decides how long a daemon may be away.
  const options = { signal: over, retryMs: Number.POSITIVE_INFINITY };
  for (;;) {
    const bytes = await readInput(pieceBytes);
    over.throwIfAborted();
    const sent = await (bytes === null ? command.closeStdin(options) : command.write(bytes, options));
    if (!sent.ok && !closedStatuses.includes(sent.error.status)) throw sent.error;
    if (!sent.ok || bytes === null) return;
  }
}
