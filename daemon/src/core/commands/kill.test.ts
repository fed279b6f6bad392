/** What a kill can reach on each platform. */
import { expect, test } from 'bun:test';
import { assertCanKill } from './kill.ts';

test('RUN-WINDOWS a whole tree can be killed on Linux only; a command itself anywhere', () => {
  expect(() => assertCanKill('linux', true)).not.toThrow();
  expect(() => assertCanKill('win32', false)).not.toThrow();
  expect(() => assertCanKill('win32', true)).toThrow(expect.objectContaining({ code: 'not_implemented' }));
});
