/** Shortens tests that repeat the same step hundreds of times, where BOXKEEP_COUNTS is `short`. */

/** Tests that take many seconds are left out too. */
export const isShort = process.env['BOXKEEP_COUNTS'] === 'short';

/** The number of steps: the full count, or a quarter of it. */
export function many(count: number): number {
  return isShort ? Math.ceil(count / 4) : count;
}
