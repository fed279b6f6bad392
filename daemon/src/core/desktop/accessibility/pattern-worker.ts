/** Tests a client's pattern on the names of nodes in a separate thread, because a pattern can run for very long. */

export interface NamesQuestion {
  readonly pattern: string;
  readonly names: readonly string[];
}

/** The indices of the names that match; null if the pattern takes too long. */
export type NamesAnswer = readonly number[] | null;

/**
 * The engine gives up after a fixed number of steps, which takes hundreds of milliseconds, and then reports no match.
 * A pattern that is as slow in every attempt is refused, because its answer may be wrong.
 */
const slowMs = 100;
/** A busy machine can delay any single attempt. */
const attempts = 3;

declare const self: Worker;

self.addEventListener('message', ({ data: { pattern, names } }: MessageEvent<NamesQuestion>) => {
  self.postMessage(find(new RegExp(pattern), names) satisfies NamesAnswer);
});

function find(expression: RegExp, names: readonly string[]): NamesAnswer {
  const found: number[] = [];
  for (const [index, name] of names.entries()) {
    const isMatch = test(expression, name);
    if (isMatch === null) return null;
    if (isMatch) found.push(index);
  }
  return found;
}

function test(expression: RegExp, name: string): boolean | null {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const startedMs = performance.now();
    if (expression.test(name)) return true;
    if (performance.now() - startedMs < slowMs) return false;
  }
  return null;
}
