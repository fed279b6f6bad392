/** Tests what a kill can reach on each platform. */
import { expect, test } from 'bun:test';
import { assertCanKill } from './kill.ts';

test('RUN-WINDOWS on Windows kill reaches the command itself, and a kill of the whole tree is refused', () => {
  expect(() => assertCanKill('linux', true)).not.toThrow();
  expect(() => assertCanKill('win32', false)).not.toThrow();
  expect(() => assertCanKill('win32', true)).toThrow(expect.objectContaining({ code: 'not_implemented' }));
});
