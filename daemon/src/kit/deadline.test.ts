/** A deadline ends a wait, and releases all listeners when it is disposed of. */
import { expect, test } from 'bun:test';
import { Deadline } from './deadline.ts';
import { Notifier } from './events/notifier.ts';

test('a deadline passes when its parent does', () => {
  const parent = new AbortController();
  using deadline = new Deadline(null, parent.signal);
  expect(deadline.passed).toBe(false);
  parent.abort();
  expect(deadline.passed).toBe(true);
  using late = new Deadline(1000, parent.signal);
  expect(late.passed).toBe(true);
});

test('a deadline passes by itself', async () => {
  using deadline = new Deadline(1);
  await new Notifier().wait(deadline.signal);
  expect(deadline.passed).toBe(true);
});

test('a disposed deadline leaves no waiter behind', () => {
  const changes = new Notifier();
  {
    using deadline = new Deadline(60_000);
    void changes.wait(deadline.signal);
    expect(changes.waiting).toBe(1);
  }
  expect(changes.waiting).toBe(0);
});
