/** An answer with trailers, which follow its body; HTTP/2 carries them. */
export class TrailedResponse extends Response {
  /** Read after the end of the body. */
  readonly trailer: Headers;

  constructor(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null, init: ResponseInit, trailer: Headers) {
    super(body, init);
    this.trailer = trailer;
  }
}
