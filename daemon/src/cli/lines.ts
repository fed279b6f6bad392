/** Cuts a stream of bytes into NDJSON values, without ever holding more than one line. */

const newline = 10;

/** What follows the last newline is no line: the connection broke in the middle of it. */
export async function* jsonLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let parts: Uint8Array[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      parts.push(piece.subarray(from, at));
      const line = Buffer.concat(parts).toString();
      parts = [];
      from = at + 1;
      yield JSON.parse(line) as unknown;
    }
    if (from < piece.length) parts.push(piece.subarray(from));
  }
}
