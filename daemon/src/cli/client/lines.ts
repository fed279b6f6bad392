/** Cuts a stream of bytes into NDJSON values, and buffers at most one line. */

const newline = 10;

/** Text after the last newline is dropped: the connection broke in the middle of a line. */
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
