/** Hands the signals that we get on to the command. */
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { GivenUp, Refusal, Unreachable } from './failure.ts';
import { Deadline } from '../kit/deadline.ts';
import type { CaughtSignals, Relayed } from './signals.ts';
import { list, number, type JsonRecord } from './wire.ts';

const answerWithinMs = 5000;
const exitHungUp = 129;
const exitInterrupted = 130;
const exitTerminated = 143;

/** Ends when `over` is aborted. Throws when somebody insists and the daemon cannot be told. */
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
  /** Somebody insists: what follows in the queue is stronger. */
  readonly givenUp: AbortSignal;
}

/** Who sends these does not want to wait; a daemon that died by itself is back before the time is over. */
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
      if (error instanceof Refusal) return; // The command is over; following it tells how.
      if (!(error instanceof Unreachable)) throw error;
      if (!exitCode && error.isMaybeSent) return; // Sent again, it could be one interrupt too many.
      if (exitCode && retry.passed && !over.aborted) {
        throw new GivenUp(`${signal} could not be sent, and ${id} may run on: ${error.message}`, exitCode);
      }
      if (retry.passed) return;
    }
    await backoff.wait(retry.signal);
  }
}

/** Processes that live a moment later; null when the command is over. */
export async function sendSignal(
  client: Client,
  id: string,
  signal: string,
  isTree = true,
): Promise<{ signalled: number; survivors: readonly number[] } | null> {
  using deadline = new Deadline(answerWithinMs);
  const path = `/v2/commands/${encodeURIComponent(id)}/kill`;
  const told: JsonRecord = await client.call('POST', path, { signal, tree: isTree }, deadline.signal);
  if (told['signalled'] === undefined) return null;
  return { signalled: number(told['signalled']), survivors: list(told['survivors']).map(number) };
}
