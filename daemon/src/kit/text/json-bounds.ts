/**
 * Measures a text of JSON before it is parsed: the runtime parses deeper values than it can write again, and a small
 * value such as `{}` takes twenty times its text in memory.
 */

export interface JsonBounds {
  readonly maxDepth: number;
  readonly maxValues: number;
}

/** Bytes of memory for each value at most: as parsed, while it is changed, and as sent. */
const bytesPerValue = 640;
/** Parsing and writing more values would delay every other request for seconds. */
const maxValuesOfAnyMachine = 2_000_000;

/** The bounds of one answer of another program, on a machine or in a group with this memory. */
export function boundsWithin(limitBytes: number): JsonBounds {
  return { maxDepth: 500, maxValues: Math.min(maxValuesOfAnyMachine, Math.floor(limitBytes / 2 / bytesPerValue)) };
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);

/** What is wrong with a text outside the bounds, as the end of a sentence; null within them. The text need not be valid. */
export function outOfBounds(text: string, { maxDepth, maxValues }: JsonBounds): string | null {
  if (text.length <= maxDepth) return null;
  let [depth, values] = [0, 1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (openings.has(code)) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return `is nested deeper than ${maxDepth}`;
    } else if (closings.has(code)) {
      depth -= 1;
      if (openings.has(text.charCodeAt(at - 1))) values -= 1; // It was empty.
    } else if (code === comma) values += 1;
  }
  return values > maxValues ? `has more than ${maxValues} values` : null;
}

/** The offset of the quote that ends the string; most of a large text is in strings, such as pictures. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
