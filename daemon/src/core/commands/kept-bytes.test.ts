/** The sum of retained output while commands run, end and are forgotten. */
import { expect, test } from 'bun:test';
import { KeptBytes } from './kept-bytes.ts';

const exited = { kind: 'lost', atMs: 0 } as const;
const running = (keptBytes: number) => ({
  end: null as typeof exited | null,
  streamsOpen: true,
  isAttached: true,
  keptBytes,
});

test('V2CMD-RETAIN output counts as it is now, until the keeper of the command has gone', () => {
  const kept = new KeptBytes();
  const [first, second] = [running(10), running(5)];
  kept.add(first);
  kept.add(second);
  expect(kept.total()).toBe(15);

  first.keptBytes = 20;
  expect(kept.total()).toBe(25);
  Object.assign(first, { end: exited, streamsOpen: false });
  expect(kept.total()).toBe(25);
  first.keptBytes = 12;
  expect(kept.total()).toBe(17);
  first.isAttached = false;
  expect(kept.total()).toBe(17);
  expect(kept.total()).toBe(17);
});

test('V2CMD-RETAIN a forgotten command no longer counts, whether it runs or has ended', () => {
  const kept = new KeptBytes();
  const ended = { ...running(7), end: exited, streamsOpen: false, isAttached: false };
  const live = running(3);
  kept.add(ended);
  kept.add(live);
  expect(kept.total()).toBe(10);

  kept.delete(ended);
  kept.delete(ended);
  expect(kept.total()).toBe(3);
  kept.delete(live);
  expect(kept.total()).toBe(0);
});
