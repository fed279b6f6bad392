/** Relays the signals that this process receives to the command. */
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { GivenUp, Refusal, Unreachable } from './failure.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Fields } from '../../kit/types/fields.ts';
import type { CaughtSignals, Relayed } from './signals.ts';
import { list, number } from './wire.ts';

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
const urgentWithinMs = 1500;

async function deliver(client: Client, id: string, signal: Relayed, { over, givenUp }: Ends): Promise<void> {
  const exitCode = urgent.get(signal);
  using retry = exitCode ? new Deadline(urgentWithinMs, over) : new Deadline(null, over, givenUp);
  const backoff = new Backoff();
  for (;;) {
    try {
      await sendSignal(client, id, signal);
      return;
    } catch (error) {
      if (error instanceof Refusal) return; // The command has ended; `follow` reports how.
      if (!(error instanceof Unreachable)) throw error;
      if (!exitCode && error.isMaybeSent) return; // Sending it again could deliver a second interrupt.
      if (exitCode && retry.passed && !over.aborted) {
        throw new GivenUp(`${signal} could not be sent, and ${id} may run on: ${error.message}`, exitCode);
      }
      if (retry.passed) return;
    }
    await backoff.wait(retry.signal);
  }
}

/** Returns the number of signalled processes and those still alive a moment later; null when the command has ended. */
export async function sendSignal(
  client: Client,
  id: string,
  signal: string,
  isTree = true,
): Promise<{ signalled: number; survivors: readonly number[] } | null> {
  using deadline = new Deadline(answerWithinMs);
  const path = `/v2/commands/${encodeURIComponent(id)}/kill`;
  const answer: Fields = await client.call('POST', path, { signal, tree: isTree }, deadline.signal);
  if (answer['signalled'] === undefined) return null;
  return { signalled: number(answer['signalled']), survivors: list(answer['survivors']).map(number) };
}
