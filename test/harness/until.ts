/** Polls until a condition holds, with a deadline, for conditions without an event. */
import { readFileSync } from 'node:fs';
import { FairClock } from './fair-clock.ts';

const pollEveryMs = 5;
const deadlineMs = 20_000;

/** `withinMs` is fair time: `test/harness/fair-clock.ts`. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = deadlineMs,
): Promise<void> {
  using clock = new FairClock();
  while (!(await isSo())) {
    if (clock.elapsedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await Bun.sleep(pollEveryMs);
  }
}

/** The processor time that the daemon has used so far, in hundredths of a second. */
export function cpuTicks({ daemonPid }: { readonly daemonPid: number }): number {
  const fields = readFileSync(`/proc/${daemonPid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
