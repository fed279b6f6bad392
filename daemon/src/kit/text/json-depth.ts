/** Measures how deep a text of JSON nests, because the runtime parses deeper values than it can write again. */

const quote = 0x22;
const backslash = 0x5c;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);

/** Whether arrays and objects nest deeper than `max`. The text need not be valid. */
export function isNestedDeeper(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (openings.has(code)) {
      depth += 1;
      if (depth > max) return true;
    } else if (closings.has(code)) depth -= 1;
  }
  return false;
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
