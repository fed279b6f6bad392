/** Runs work that Ctrl-C, SIGTERM or SIGHUP ends, with the exit code that a shell expects. */
import { constants } from 'node:os';
import { GivenUp } from './failure.ts';
import { CaughtSignals } from './signals.ts';

/** The signal of the work aborts with a GivenUp. A second Ctrl-C ends the process at once. */
export async function untilSignalled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using signals = new CaughtSignals();
  const [over, given] = [new AbortController(), new AbortController()];
  const watched = signals.next(over.signal).then((name) => {
    if (name === null) return;
    signals[Symbol.dispose]();
    given.abort(new GivenUp(`received ${name}`, 128 + constants.signals[name]));
  });
  try {
    return await work(given.signal);
  } finally {
    over.abort();
    await watched;
  }
}
