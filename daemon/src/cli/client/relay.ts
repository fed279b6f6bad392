/** Relays the signals that this process receives to the command. */
import {
  BoxError,
  type CallOptions,
  type CommandKillData,
  type CommandKillRequest,
} from '../../../../clients/typescript/src/index.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Client, WaitOptions } from './client.ts';
import { GivenUp } from './failure.ts';
import type { CaughtSignals, Relayed } from './signals.ts';

const answerWithinMs = 5000;
const exitHungUp = 129;
const exitInterrupted = 130;
const exitTerminated = 143;

/** Ends when `over` is aborted. Throws when an urgent signal cannot be delivered. */
export async function relaySignals(
  client: Client,
  id: string,
  signals: CaughtSignals,
  over: AbortController,
): Promise<void> {
  for (;;) {
    const signal = await signals.next(over.signal);
    if (signal === null) return;
    await deliver(client, id, signal, { over: over.signal, givenUp: signals.givenUp });
    if (signal === 'SIGHUP') throw new GivenUp('the terminal has gone', exitHungUp);
  }
}

interface Ends {
  readonly over: AbortSignal;
  /** The user insists: a stronger signal follows in the queue. */
  readonly givenUp: AbortSignal;
}

/** The sender of these signals does not want to wait. A daemon that died by itself is back within that time. */
const urgent: ReadonlyMap<Relayed, number> = new Map([
  ['SIGKILL', exitInterrupted],
  ['SIGTERM', exitTerminated],
  ['SIGHUP', exitHungUp],
]);
const urgentRetryMs = 1500;

async function deliver(client: Client, id: string, signal: Relayed, { over, givenUp }: Ends): Promise<void> {
  const exitCode = urgent.get(signal);
  // Of the others, a second one would be a second interrupt.
  const options = exitCode
    ? { isRepeatable: true, retryMs: urgentRetryMs }
    : { withinMs: null, retryMs: Number.POSITIVE_INFINITY };
  using wait = exitCode ? new Deadline(null, over) : new Deadline(null, over, givenUp);
  try {
    await sendSignal(client, id, signal, true, { ...options, signal: wait.signal });
  } catch (error) {
    if (wait.passed) return;
    if (!(error instanceof BoxError)) throw error;
    if (!exitCode || error.status === 404) return; // The reader of the output reports what became of the command.
    throw new GivenUp(`${signal} could not be sent, and ${id} may run on: ${error.message}`, exitCode);
  }
}

export type SignalName = NonNullable<CommandKillRequest['signal']>;

/** Reports the processes that got the signal and those still alive a moment later; neither if the command has ended. */
export async function sendSignal(
  client: Client,
  id: string,
  signal: SignalName,
  isTree = true,
  options: WaitOptions = {},
): Promise<CommandKillData> {
  const input = { path: { command_id: id }, body: { signal, tree: isTree } };
  const call = (each: CallOptions) => client.sandbox.call('commands.kill', input, each);
  return (await client.answer(call, { withinMs: answerWithinMs, ...options })).data;
}
