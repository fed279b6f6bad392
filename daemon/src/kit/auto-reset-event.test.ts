/** No change is missed, whether it comes before the wait or during it. */
import { expect, test } from 'bun:test';
import { AutoResetEvent } from './auto-reset-event.ts';

test('a wait ends at the next set, or at once after an earlier one, and resets the event', async () => {
  const event = new AutoResetEvent();
  event.set();
  event.set();
  await event.wait();
  let hasEnded = false;
  const waiting = event.wait().then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  event.set();
  event.set(); // Belongs to the wait that it ends, since the waiter has not looked yet.
  await waiting;
  expect(hasEnded).toBe(true);
  const again = event.wait();
  event.set();
  await again;
});
