/** Runs tiers of tests with a home and a temporary directory of their own; what they leave there is a failure. */
import { TestRun } from './leftovers.mjs';
import { TestQueue } from './test-queue.mjs';

/** As `TestQueue.run`, with the leftovers in the counts and in the reports. */
export async function runTiers(tiers, filesAtOnce) {
  const queue = new TestQueue(tiers);
  const run = new TestRun();
  const total = await queue.run(filesAtOnce, run.environment);
  const left = run.leftovers();
  run.remove();
  if (left.length === 0) return total;
  const report = `-- the tests have left on the machine: ${left.join(', ')}`;
  return { ...total, failed: total.failed + 1, reports: [...total.reports, report] };
}
