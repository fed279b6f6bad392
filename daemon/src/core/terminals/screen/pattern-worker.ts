/** Tests client patterns on screen text in a separate thread, because a pattern can run for very long. */
import { isMatch } from '../../../kit/text/bounded-match.ts';

export interface PatternQuestion {
  readonly pattern: string;
  readonly text: string;
}

export interface PatternAnswer {
  /** null if the pattern takes too long. */
  readonly isMatch: boolean | null;
}

declare const self: Worker;

self.addEventListener('message', ({ data: { pattern, text } }: MessageEvent<PatternQuestion>) => {
  self.postMessage({ isMatch: isMatch(new RegExp(pattern, 'm'), text) } satisfies PatternAnswer);
});
