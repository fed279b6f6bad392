/** Tests a client's pattern on a text, in a thread of its own, because a pattern can run for very long. */

/**
 * The engine gives up after a fixed number of steps, which takes 400 to 850 ms here, and then reports no match.
 * Ordinary patterns take less than 20 ms on the longest text. A pattern that exceeds this limit in every attempt is
 * refused, because its answer may be wrong.
 */
const slowMs = 100;
/** A busy machine can delay any single attempt. */
const attempts = 3;

/** Null if the pattern takes too long. */
export function isMatch(pattern: RegExp, text: string): boolean | null {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const startedMs = performance.now();
    if (pattern.test(text)) return true;
    if (performance.now() - startedMs < slowMs) return false;
  }
  return null;
}
