/** The clock of the waits counts less beside busy processes, and a wait that passes its limit fails. */
import { expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { fairTimeout, FairClock, within } from '../test/harness/fair-clock.ts';

test('beside four times as many busy processes as cores, a second counts as less than half', async () => {
  const busy = Array.from({ length: 4 * availableParallelism() }, () => Bun.spawn(['sh', '-c', 'while :; do :; done']));
  try {
    using clock = new FairClock();
    await Bun.sleep(1000);
    expect(clock.elapsedMs).toBeWithin(50, 500);
  } finally {
    for (const child of busy) child.kill();
    await Promise.all(busy.map(({ exited }) => exited));
  }
});

test('a wait without an end fails at its limit, and work that ends in time does not', async () => {
  const endless = new Promise<void>(() => undefined);
  const late = await within('the end of time', endless, 20).catch((error: Error) => error.message);
  expect(late).toBe('not within 20 ms: the end of time');
  expect(await within('a value', Promise.resolve('value'), 20)).toBe('value');
});

test('a timeout that is disposed is not called', async () => {
  let calls = 0;
  fairTimeout(() => calls++, 10)[Symbol.dispose]();
  const { promise, resolve } = Promise.withResolvers<void>();
  fairTimeout(resolve, 100);
  await promise;
  expect(calls).toBe(0);
});
