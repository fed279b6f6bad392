/** Where patterns of clients are tried on screens: in a thread of its own, because a pattern can take for ever. */

export interface PatternQuestion {
  readonly pattern: string;
  readonly text: string;
}

export interface PatternAnswer {
  readonly isMatch: boolean;
  readonly tookMs: number;
}

declare const self: Worker;

self.addEventListener('message', ({ data: { pattern, text } }: MessageEvent<PatternQuestion>) => {
  const startedMs = performance.now();
  const isMatch = new RegExp(pattern, 'm').test(text);
  self.postMessage({ isMatch, tookMs: performance.now() - startedMs } satisfies PatternAnswer);
});
