/** Waits until something is so, with a deadline: for what no event tells. */
import { readFileSync } from 'node:fs';

const lookEveryMs = 5;
const deadlineMs = 20_000;

export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = deadlineMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await Bun.sleep(lookEveryMs);
  }
}

/** Hundredths of a second that the daemon has worked so far. */
export function cpuTicks({ daemonPid }: { readonly daemonPid: number }): number {
  const fields = readFileSync(`/proc/${daemonPid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
