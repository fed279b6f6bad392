/** Cuts a stream of bytes into lines of text. */

/** A last line without a line feed counts too. */
export async function* textLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const piece of pieces) {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n');
    rest.push(first);
    for (const next of others) {
      yield rest.join('').replace(/\r$/, '');
      rest = [next];
    }
  }
  if (rest.join('') !== '') yield rest.join('');
}
