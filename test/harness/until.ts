/** Waits until something is so, with a deadline: for what no event tells. */

const lookEveryMs = 5;
const deadlineMs = 10_000;

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
