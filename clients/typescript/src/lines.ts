/** Cuts a stream of bytes into lines, and buffers at most one. Texts and bytes turn into each other. */
const newline = 10;

/**
 * Lines of JSON; null for a line that is none. After a line with `bytes`, so many bytes follow, as they come. Text after
 * the last newline is dropped: the connection broke in the middle of a line.
 */
export async function* frames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let begun: Uint8Array[] = [];
  let expected = 0;
  for await (const piece of pieces) {
    let at = 0;
    while (at < piece.length) {
      if (expected > 0) {
        const bytes = piece.subarray(at, at + expected);
        expected -= bytes.length;
        at += bytes.length;
        yield bytes;
        continue;
      }
      const end = piece.indexOf(newline, at);
      begun.push(piece.subarray(at, end === -1 ? piece.length : end));
      if (end === -1) break;
      at = end + 1;
      const line = parsed(decoder.decode(joined(begun)));
      begun = [];
      expected = (line as { readonly bytes?: number } | null)?.bytes ?? 0;
      yield line;
    }
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null; // The caller knows who sent it.
  }
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

/** What a caller may have bytes in. */
export type Bytes = ArrayBuffer | ArrayBufferView;

export function isBytes(value: unknown): value is Bytes {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

export function bytesOf(input: string | Bytes): Uint8Array<ArrayBuffer> {
  if (typeof input === 'string') return new TextEncoder().encode(input);
  if (!ArrayBuffer.isView(input)) return new Uint8Array(input);
  return new Uint8Array(input.buffer as ArrayBuffer, input.byteOffset, input.byteLength);
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

/** Moves a character that two pieces share into the second one, so that the text of each is decoded by itself. */
export class SharedCharacters {
  #begun = new Uint8Array(0);

  /** The bytes of the characters that end in this piece. */
  endingIn(piece: Uint8Array): Uint8Array {
    const bytes = this.#begun.length === 0 ? piece : joined([this.#begun, piece]);
    const end = bytes.length - incompleteLength(bytes);
    this.#begun = bytes.slice(end);
    return bytes.subarray(0, end);
  }
}

/** How many bytes at the end begin a character whose rest is missing. */
function incompleteLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue; // In the middle of a character
    const whole = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length < whole ? length : 0;
  }
  return 0;
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

/** Newer runtimes have it, and are much faster. */
interface ToBase64 {
  readonly toBase64?: () => string;
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
