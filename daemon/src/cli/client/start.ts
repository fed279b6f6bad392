/** Starts a command exactly once. The client chooses the id, so it can repeat a request with a lost answer. */
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { ClientFailure, GivenUp, Unreachable } from './failure.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Fields } from '../../kit/types/fields.ts';
import { mintId } from '../../kit/ids.ts';
import type { CaughtSignals } from './signals.ts';
import { readCommand, type CommandView } from './wire.ts';

/** Within this time, a daemon that died during the request is back. */
const withinMs = 10_000;

export async function startCommand(client: Client, body: Fields, signals: CaughtSignals): Promise<CommandView> {
  const id = mintId('cmd');
  // The answer may arrive after the end of the command; its output is not needed.
  const request = { ...body, command_id: id, mode: 'async', max_output_length: 1 };
  using deadline = new Deadline(withinMs, signals.givenUp);
  const backoff = new Backoff();
  let isMaybeStarted = false;
  for (;;) {
    try {
      return readCommand(await client.call('POST', '/v2/commands', request, deadline.signal));
    } catch (error) {
      if (signals.givenUp.aborted) throw new GivenUp(`given up before the daemon had answered; boxkeep ps shows ${id}`);
      if (!(error instanceof Unreachable)) throw error;
      isMaybeStarted ||= error.isMaybeSent;
      if (!isMaybeStarted) throw error;
      if (deadline.passed) {
        throw new ClientFailure(`${client.address} has not answered for ${withinMs / 1000} s; ${id} may have started`);
      }
    }
    await backoff.wait(deadline.signal);
  }
}
