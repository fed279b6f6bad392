/** Where patterns of clients are tried on screens: in a thread of its own, because a pattern can take for ever. */

export interface PatternQuestion {
  readonly pattern: string;
  readonly text: string;
}

export interface PatternAnswer {
  /** null: the pattern takes too long. */
  readonly isMatch: boolean | null;
}

/**
 * The engine gives up on a pattern after so many steps, which take 400 to 850 ms here, and calls it not found. Ordinary
 * ones take less than 20 ms on the longest text; one that never takes less than this is refused.
 */
const slowMs = 100;
/** A busy machine may hold up any of them. */
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
