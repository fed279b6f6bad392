/** How long kills that arrive before their commands are remembered, and how many. */
import { expect, test } from 'bun:test';
import { EarlyKills, earlyKillMs } from './early-kills.ts';

test('a kill is remembered until the command arrives, for a limited time', () => {
  let now = 0;
  const kills = new EarlyKills(() => now);
  kills.add('a', 'SIGTERM');
  kills.add('a', 'SIGKILL');
  kills.add('b', 'SIGINT');
  now = earlyKillMs - 1;
  expect([kills.find('a'), kills.find('b'), kills.find('c')]).toEqual(['SIGKILL', 'SIGINT', null]);
  kills.delete('b');
  expect(kills.find('b')).toBeNull();
  now = earlyKillMs;
  expect(kills.find('a')).toBeNull();
});

test('the oldest kills are forgotten when many arrive', () => {
  const kills = new EarlyKills(() => 0);
  for (let index = 0; index < 1025; index++) kills.add(`id ${index}`, 'SIGTERM');
  expect([kills.find('id 0'), kills.find('id 1'), kills.find('id 1024')]).toEqual([null, 'SIGTERM', 'SIGTERM']);
});
