/** Tests the arrival times that are derived from the few known times. */
import { expect, test } from 'bun:test';
import { OutputTimes } from './recording-times.ts';

const begun = { offset: 0, ms: 1000 };

test('output that was recorded on arrival has its time, however quiet the terminal was before', () => {
  const times = new OutputTimes();
  times.note(10, 1100);
  times.note(20, 61_000, true);
  const schedule = times.schedule(begun, { offset: 20, ms: 70_000 });
  expect([schedule.timeOf(9) <= 1100, schedule.timeOf(10), schedule.timeOf(19)]).toEqual([true, 61_000, 61_000]);
});

test('output that arrived unrecorded gets steady times between the known ones', () => {
  const times = new OutputTimes();
  times.note(0, 5000);
  const schedule = times.schedule(begun, { offset: 8000, ms: 99_000 });
  expect([schedule.timeOf(0), schedule.timeOf(4000), schedule.timeOf(8000)]).toEqual([5000, 5500, 99_000]);
});

test('times are bounded and never decrease, and the newest are the most exact', () => {
  const times = new OutputTimes();
  for (let n = 1; n <= 50_000; n++) times.note(n * 10, 1000 + n * 20, true);
  const inOrder = () => times.schedule(begun, { offset: 500_000, ms: 2_000_000 });
  const schedule = inOrder();
  const sampled = Array.from({ length: 5001 }, (_, n) => schedule.timeOf(n * 100));
  expect(sampled.every((ms, index) => index === 0 || ms >= (sampled[index - 1] ?? 0))).toBe(true);
  expect(new OutputTimes().schedule(begun, begun).timeOf(0)).toBe(1000);
  expect(inOrder().timeOf(499_995)).toBe(1000 + 50_000 * 20);
});
