/** A text that is too long to be held in memory: the writer of an answer reads the text from its source meanwhile. */

export class LongText {
  /** Each piece is UTF-8 that ends with a whole character, and is valid until the next piece is requested. */
  constructor(readonly pieces: () => Iterable<Uint8Array>) {}
}
