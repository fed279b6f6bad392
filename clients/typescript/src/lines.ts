/** Cuts a stream of bytes into lines, and buffers at most one. Texts and bytes turn into each other. */
const newline = 10;

/** Text after the last newline is dropped: the connection broke in the middle of a line. */
export async function* jsonLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of textLines(pieces)) yield JSON.parse(line) as unknown;
}

/** Lines without their newlines. Text after the last newline is a line where the input ends by itself. */
export async function* textLines(pieces: AsyncIterable<Uint8Array>, endsItself = false): AsyncGenerator<string> {
  // Whole lines are decoded, because runtimes decode a text at once faster than in parts.
  const decoder = new TextDecoder();
  let begun: Uint8Array[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      const end = piece.subarray(from, at);
      const line = begun.length === 0 ? end : joined([...begun, end]);
      begun = [];
      from = at + 1;
      yield decoder.decode(line);
    }
    if (from < piece.length) begun.push(piece.subarray(from));
  }
  if (endsItself && begun.length > 0) yield decoder.decode(joined(begun));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The text of bytes that come in pieces. A byte order mark is text like any other. */
export class StreamText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #isOpen = false;

  decode(bytes: Uint8Array): string {
    this.#isOpen = true;
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** What is left of a character whose end does not come. */
  end(): string {
    if (!this.#isOpen) return '';
    this.#isOpen = false;
    return this.#decoder.decode();
  }
}

/** The pieces of a body. Browsers have no iterator for streams. Ends the connection when the caller stops early. */
export async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A stream that broke has nothing to cancel.
    await reader.cancel().catch(() => undefined);
  }
}

/** Newer runtimes have both directions, which are much faster. */
interface FromBase64 {
  readonly fromBase64?: (text: string) => Uint8Array;
}
interface ToBase64 {
  readonly toBase64?: () => string;
}

export function bytesOfBase64(text: string): Uint8Array {
  const { fromBase64 } = Uint8Array as FromBase64;
  if (fromBase64) return fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

const charactersAtOnce = 32 * 1024;

export function base64Of(bytes: Uint8Array): string {
  const encoded = (bytes as ToBase64).toBase64?.();
  if (encoded !== undefined) return encoded;
  let binary = '';
  for (let at = 0; at < bytes.length; at += charactersAtOnce)
    binary += String.fromCharCode(...bytes.subarray(at, at + charactersAtOnce));
  return btoa(binary);
}
