/** Tests a client's pattern on the names of nodes in a separate thread, because a pattern can run for very long. */
import { isMatch } from '../../../kit/text/bounded-match.ts';

export interface NamesQuestion {
  readonly pattern: string;
  readonly names: readonly string[];
}

/** The indices of the names that match; null if the pattern takes too long. */
export type NamesAnswer = readonly number[] | null;

declare const self: Worker;

self.addEventListener('message', ({ data: { pattern, names } }: MessageEvent<NamesQuestion>) => {
  self.postMessage(find(new RegExp(pattern), names) satisfies NamesAnswer);
});

function find(expression: RegExp, names: readonly string[]): NamesAnswer {
  const found: number[] = [];
  for (const [index, name] of names.entries()) {
    const hasMatched = isMatch(expression, name);
    if (hasMatched === null) return null;
    if (hasMatched) found.push(index);
  }
  return found;
}
