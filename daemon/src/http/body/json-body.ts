/** Parses JSON request bodies in time slices; refuses large structures and decodes long strings separately. */
import { CoreError } from '../../kit/errors.ts';
import { TimeSlices } from '../../kit/slices.ts';
import { isHighSurrogate, isLowSurrogate } from '../../kit/text/text.ts';

/** JSON.parse and validation handle this many values in some milliseconds, without a pause. */
export const maxValues = 10_000;
export const maxDepth = 100;
/** Limit on all bytes outside long strings. */
export const maxStructureBytes = 8 * 1024 * 1024;

/**
 * Longer strings are cut out of the text, so that JSON.parse never copies them. A body up to this size has no such
 * string, and fewer values than the limit.
 */
const longStringBytes = 4096;
/** Bytes processed between two checks of the clock. */
const blockBytes = 64 * 1024;

const code = {
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  u: 0x75,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;
/** The character of each one-letter escape; 0 where no such escape exists. */
const escaped = new Uint8Array(256);
for (const [letter, character] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  escaped[letter!.charCodeAt(0)] = character!.charCodeAt(0);
}

const bodyText = new TextDecoder('utf-8', { fatal: true });
/** A byte order mark inside a string is content. */
const stringText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses a body; overwrites `bytes`. An empty text yields undefined. Throws `malformed_request`, `body_too_large`. */
export async function parseJsonBody(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= longStringBytes && isFlat(bytes)) return parseText(decode(bodyText, bytes));
  const { structure, mark, texts } = await new Scan(bytes).whole();
  if (structure.length > maxStructureBytes)
    throw tooComplex(`has more than ${maxStructureBytes} bytes beside its long strings`);
  const value = parseText(decode(bodyText, structure));
  return texts.length === 0 ? value : putBack(value, mark, texts);
}

/** True when too few brackets open for a structure that is too deep. Brackets in strings count too. */
function isFlat(bytes: Uint8Array): boolean {
  let open = 0;
  for (const byte of bytes) if (byte === code.openList || byte === code.openObject) open++;
  return open <= maxDepth;
}

interface Scanned {
  readonly structure: Uint8Array;
  /**
   * The prefix of the placeholder for each cut-out text; the index of the text follows it. No client can guess the
   * prefix.
   */
  readonly mark: string;
  readonly texts: readonly string[];
}

/** Checks the limits on the structure, and closes the gaps left by long strings that are cut out. */
class Scan {
  readonly #mark = crypto.randomUUID();
  readonly #texts: string[] = [];
  readonly #slices = new TimeSlices();
  #at = 0;
  #depth = 0;
  #values = 1;
  #strings = 0;
  /** The bytes from here on still have to move to `#movedTo`. */
  #movedFrom = 0;
  #movedTo = 0;

  constructor(private readonly bytes: Uint8Array) {}

  async whole(): Promise<Scanned> {
    for (;;) {
      const open = await this.#nextString();
      if (open === -1) break;
      const hasEscapes = await this.#passString();
      const close = this.#at - 1;
      if (close - open > longStringBytes) await this.#takeOut(open + 1, close, hasEscapes);
    }
    this.#moveUpTo(this.bytes.length);
    return { structure: this.bytes.subarray(0, this.#movedTo), mark: this.#mark, texts: this.#texts };
  }

  /** Advances to the next string and returns the offset of its quote; -1 when no string is left. */
  async #nextString(): Promise<number> {
    const { bytes } = this;
    while (this.#at < bytes.length) {
      for (const end = this.#blockEnd(); this.#at < end;) {
        const byte = bytes[this.#at++]!;
        if (byte === code.quote) {
          this.#strings++;
          this.#assertSimple();
          return this.#at - 1;
        }
        this.#count(byte);
      }
      await this.#pause();
    }
    return -1;
  }

  /** Advances past the end of the string; true when the string contains escapes. */
  async #passString(): Promise<boolean> {
    const { bytes } = this;
    let hasEscapes = false;
    while (this.#at < bytes.length) {
      for (const end = this.#blockEnd(); this.#at < end;) {
        const byte = bytes[this.#at++]!;
        if (byte === code.quote) return hasEscapes;
        if (byte < code.space) throw notJson('a control character in a string is not escaped');
        if (byte !== code.backslash) continue;
        hasEscapes = true;
        this.#at++;
      }
      await this.#pause();
    }
    throw notJson('a string has no end');
  }

  #count(byte: number): void {
    if (byte === code.comma) this.#values++;
    else if (byte === code.closeList || byte === code.closeObject) this.#depth--;
    else if (byte !== code.openList && byte !== code.openObject) return;
    else {
      this.#values++;
      this.#depth++;
    }
    this.#assertSimple();
  }

  /** Strings may be twice as many as values, because each value of an object also has a name. */
  #assertSimple(): void {
    if (this.#depth > maxDepth) throw tooComplex(`is nested deeper than ${maxDepth}`);
    if (this.#values > maxValues || this.#strings > 2 * maxValues)
      throw tooComplex(`has more than ${maxValues} values`);
  }

  async #takeOut(from: number, to: number, hasEscapes: boolean): Promise<void> {
    const end = hasEscapes ? await this.#unescape(from, to) : to;
    const text = decode(stringText, this.bytes.subarray(from, end));
    this.#moveUpTo(from);
    this.#movedTo += Buffer.from(this.#mark + String(this.#texts.length)).copy(this.bytes, this.#movedTo);
    this.#movedFrom = to;
    this.#texts.push(text);
  }

  /** Replaces the escapes in place by their characters, which are never longer. Returns the new end of the string. */
  async #unescape(from: number, to: number): Promise<number> {
    const { bytes } = this;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, to);
    let end = from;
    for (let at = from; at < to;) {
      for (const blockEnd = Math.min(at + blockBytes, to); at < blockEnd;) {
        const byte = bytes[at++]!;
        if (byte !== code.backslash) {
          bytes[end++] = byte;
          continue;
        }
        const letter = bytes[at++]!;
        if (letter !== code.u) {
          bytes[end++] = escaped[letter] || fail();
          continue;
        }
        const high = unitAt(text, at);
        const low =
          isHighSurrogate(high) && text.toString('latin1', at + 4, at + 6) === '\\u' ? unitAt(text, at + 6) : 0;
        const isPair = isLowSurrogate(low);
        if (!isPair && (isHighSurrogate(high) || isLowSurrogate(high)))
          throw malformed('a string holds half of a surrogate pair');
        end += text.write(isPair ? String.fromCharCode(high, low) : String.fromCharCode(high), end);
        at += isPair ? 10 : 4;
      }
      await this.#pause();
    }
    return end;
  }

  #moveUpTo(end: number): void {
    if (this.#movedTo !== this.#movedFrom) this.bytes.copyWithin(this.#movedTo, this.#movedFrom, end);
    this.#movedTo += end - this.#movedFrom;
    this.#movedFrom = end;
  }

  #blockEnd(): number {
    return Math.min(this.#at + blockBytes, this.bytes.length);
  }

  async #pause(): Promise<void> {
    await this.#slices.next();
  }
}

/** The code unit of the four hex digits at this offset. */
function unitAt(text: Buffer, at: number): number {
  const digits = text.toString('latin1', at, at + 4);
  if (!/^[\da-f]{4}$/i.test(digits)) fail();
  return Number.parseInt(digits, 16);
}

function fail(): never {
  throw notJson('an escape in a string is not valid');
}

/** Replaces the placeholders by the cut-out strings. */
function putBack(value: unknown, mark: string, texts: readonly string[]): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : value;
  if (typeof value !== 'object' || value === null) return value;
  // JSON.parse makes every name an own property, including `__proto__`, so an assignment changes no prototype.
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    if (name.startsWith(mark)) throw tooComplex(`has a name of more than ${longStringBytes} bytes`);
    fields[name] = putBack(fields[name], mark, texts);
  }
  return value;
}

function decode(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw malformed('the body is not UTF-8');
    throw error;
  }
}

function parseText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson(error.message);
    throw error;
  }
}

function notJson(reason: string): CoreError {
  return malformed(`the body is not JSON: ${reason}`);
}

export function malformed(message: string, hint = 'Send one JSON object in UTF-8.'): CoreError {
  return new CoreError('malformed_request', message, { hint });
}

function tooComplex(reason: string): CoreError {
  return new CoreError('body_too_large', `the body ${reason}`, {
    hint: 'Send fewer values in one request, and large content as a file upload.',
  });
}
