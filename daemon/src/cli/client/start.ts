/** Starts a command exactly once. The client chooses the id, so it can repeat a request with a lost answer. */
import { BoxError, type CommandHandle, type CommandRunRequest } from '../../../../clients/typescript/src/index.ts';
import { mintId } from '../../kit/ids.ts';
import { madeOnce, type Client } from './client.ts';
import { ClientFailure, GivenUp } from './failure.ts';
import type { CaughtSignals } from './signals.ts';

export async function startCommand(
  client: Client,
  body: CommandRunRequest,
  signals: CaughtSignals,
): Promise<CommandHandle> {
  const id = mintId('cmd');
  // The answer may arrive after the end of the command; its output is not needed.
  const request = { ...body, command_id: id, max_output_length: 1 };
  try {
    const options = { ...madeOnce, signal: signals.givenUp };
    return await client.answer((each) => client.sandbox.commands.start(request, each), options);
  } catch (error) {
    if (signals.givenUp.aborted) throw new GivenUp(`given up before the daemon had answered; boxkeep ps shows ${id}`);
    if (!(error instanceof BoxError && error.retryable && error.isMaybeDone)) throw error;
    throw new ClientFailure(`${error.message}; ${id} may have started`);
  }
}
