/** What a slow reader of a call gets: the newest output and notifications, within bounds. */
import { expect, test } from 'bun:test';
import { FollowedOutput } from './followed-output.ts';

test('a slow reader gets the newest output, with the length of all output', () => {
  const followed = new FollowedOutput();
  followed.addText('a'.repeat(5000));
  followed.addText('end');
  const [progress] = followed.take();
  expect(progress).toEqual({ progress: 5003, message: `${'a'.repeat(3997)}end` });
  expect(followed.take()).toEqual([]);
});

test('a slow reader gets the newest notifications of another server, in order', () => {
  const followed = new FollowedOutput();
  for (let step = 1; step <= 1000; step++) followed.pass({ progress: step });
  expect(followed.take()).toEqual(Array.from({ length: 256 }, (_, i) => ({ progress: 745 + i })));
});

test('a notification of another server that is too large is left out, and the others arrive', () => {
  const followed = new FollowedOutput();
  followed.pass({ progress: 1, message: 'x'.repeat(32 * 1024 * 1024) });
  expect(followed.hasNews).toBe(false);
  followed.pass({ progress: 2, message: 'small' });
  expect(followed.take()).toEqual([{ progress: 2, message: 'small' }]);
});
