/** Tests client patterns on screen text in a separate thread, because a pattern can run for very long. */

export interface PatternQuestion {
  readonly pattern: string;
  readonly text: string;
}

export interface PatternAnswer {
  /** null if the pattern takes too long. */
  readonly isMatch: boolean | null;
}

/**
 * The engine gives up after a fixed number of steps, which takes 400 to 850 ms here, and then reports no match.
 * Ordinary patterns take less than 20 ms on the longest text. A pattern that exceeds this limit in every attempt is
 * refused.
 */
const slowMs = 100;
/** A busy machine can delay any single attempt. */
const attempts = 3;

declare const self: Worker;

self.addEventListener('message', ({ data: { pattern, text } }: MessageEvent<PatternQuestion>) => {
  self.postMessage({ isMatch: find(pattern, text) } satisfies PatternAnswer);
});

function find(pattern: string, text: string): boolean | null {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const startedMs = performance.now();
    if (new RegExp(pattern, 'm').test(text)) return true;
    if (performance.now() - startedMs < slowMs) return false;
  }
  return null;
}
