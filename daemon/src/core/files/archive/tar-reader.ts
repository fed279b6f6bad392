/** Reads a tar archive from a stream, one member at a time, with bounded memory. */
import { FileFailure } from '../../../kit/file-failure.ts';
import type { NextStep } from '../../../kit/errors.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { otherFormat } from './other-formats.ts';
import {
  blockBytes,
  decodeHeader,
  decodePax,
  errorKeyword,
  paddingOf,
  readText,
  type RawHeader,
} from './tar-header.ts';

/** Maximum size of a long name or of the records before a member. A larger size is not a plausible name. */
const maxExtensionBytes = 1024 * 1024;
const emptyPiece = Buffer.alloc(64 * 1024);
const emptyBlock = emptyPiece.subarray(0, blockBytes);

const hint = 'Send a complete tar archive, as tar -c writes it.';

/** Creates the errors for an invalid archive or an invalid member. */
export class ArchiveFault {
  constructor(private readonly path: string) {}

  /** HTTP status 400. */
  refuse(message: string, what = hint, next: NextStep | null = null): FileFailure {
    return new FileFailure({ operation: 'tree', path: this.path, errnoName: 'EINVAL', message, hint: what, next });
  }

  member(name: string, message: string, what: string): FileFailure {
    return this.refuse(`member ${quoted(name)}: ${message}`, what);
  }

  /** HTTP status 413. */
  tooLarge(message: string, what: string): FileFailure {
    return new FileFailure({ operation: 'tree', path: this.path, errnoName: 'EFBIG', message, hint: what });
  }
}

/** Formats a member name as clients see it. */
export function quoted(name: string): string {
  return JSON.stringify(showPath(name));
}

/** Extension headers that apply to the next member. */
interface Extensions {
  name?: string;
  target?: string;
  records?: ReadonlyMap<string, string>;
}

/** The caller must dispose of the reader. */
export class TarReader implements AsyncDisposable {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;
  #contentLeft = 0;
  #hasMembers = false;

  constructor(
    pieces: AsyncIterable<Uint8Array>,
    private readonly fault: ArchiveFault,
  ) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Returns the next member, or null at the end. The caller must first read the content of the previous member. */
  async next(): Promise<RawHeader | null> {
    const before: Extensions = {};
    for (;;) {
      const block = await this.#take(blockBytes);
      // An empty body is an empty archive, as in tar(1).
      if (block === null && !this.#hasMembers && this.#buffer.length === 0) return null;
      if (block === null) throw this.#notTar(this.#buffer) ?? this.#cut();
      if (block.equals(emptyBlock)) {
        await this.#assertEnd();
        return null;
      }
      const header = decodeHeader(block);
      if (!header) {
        const message = this.#hasMembers ? 'the archive is damaged' : 'the body is not a tar archive';
        throw this.#notTar(block) ?? this.fault.refuse(message);
      }
      this.#hasMembers = true;
      if (!(await this.#extend(header, before))) return this.#begin(header, before);
    }
  }

  /** Returns the whole content of a small member. */
  async whole(): Promise<Buffer> {
    const size = this.#contentLeft;
    const bytes = await this.#take(size + paddingOf(size));
    if (bytes === null) throw this.#cut();
    this.#contentLeft = 0;
    return bytes.subarray(0, size);
  }

  /** Yields the content of the member in pieces. */
  async *content(): AsyncGenerator<Uint8Array> {
    const padding = paddingOf(this.#contentLeft);
    while (this.#contentLeft > 0) {
      if (this.#at === this.#buffer.length && !(await this.#fill())) throw this.#cut();
      const piece = this.#buffer.subarray(this.#at, this.#at + this.#contentLeft);
      this.#at += piece.length;
      this.#contentLeft -= piece.length;
      yield piece;
    }
    if ((await this.#take(padding)) === null) throw this.#cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pieces.return?.();
  }

  /** Stores an extension header for the next member. Returns false for any other header. */
  async #extend({ flag, size, name }: RawHeader, before: Extensions): Promise<boolean> {
    if (!'LKxg'.includes(flag)) return false;
    if (size > maxExtensionBytes) throw this.fault.member(name, `its header has ${size} bytes`, hint);
    const bytes = await this.#take(size + paddingOf(size));
    if (bytes === null) throw this.#cut();
    const content = bytes.subarray(0, size);
    if (flag === 'L') before.name = readText(content, 0, size);
    if (flag === 'K') before.target = readText(content, 0, size);
    if (flag === 'x') before.records = decodePax(content) ?? this.#damaged(name);
    // Other global records, such as the commit id of git archive, do not describe a member.
    const reason = flag === 'g' ? decodePax(content)?.get(errorKeyword) : undefined;
    if (reason !== undefined) throw this.fault.refuse(`the archive ends early: ${showPath(reason)}`);
    return true;
  }

  #damaged(name: string): never {
    throw this.fault.member(name, 'its pax header is damaged', hint);
  }

  #begin(header: RawHeader, { name, target, records }: Extensions): RawHeader {
    const number = (key: string, otherwise: number): number => {
      const text = records?.get(key);
      if (text === undefined) return otherwise;
      const value = Number(text);
      if (text.trim() === '' || !Number.isFinite(value)) return this.#damaged(header.name);
      return Math.trunc(value);
    };
    const size = number('size', header.size);
    if (size < 0 || !Number.isSafeInteger(size)) this.#damaged(header.name);
    const member = {
      ...header,
      name: records?.get('path') ?? name ?? header.name,
      target: records?.get('linkpath') ?? target ?? header.target,
      size,
      modifiedSeconds: number('mtime', header.modifiedSeconds),
    };
    if ([...(records?.keys() ?? [])].some((key) => key.startsWith('GNU.sparse.')) || header.flag === 'S') {
      throw this.fault.member(member.name, 'is a sparse file', 'Create the archive without --sparse.');
    }
    this.#contentLeft = size;
    return member;
  }

  /** After the end block, only empty blocks are allowed. */
  async #assertEnd(): Promise<void> {
    do {
      const rest = this.#buffer.subarray(this.#at);
      this.#at = this.#buffer.length;
      if (!isEmpty(rest)) throw this.fault.refuse('the archive has data after its end');
    } while (await this.#fill());
  }

  /** Null after the first member, and for bytes of no known format. */
  #notTar(first: Uint8Array): FileFailure | null {
    const format = this.#hasMembers ? null : otherFormat(first);
    return format && this.fault.refuse(`the body is ${format.name}, not a tar archive`, format.hint, format.next);
  }

  #cut(): FileFailure {
    const isTar = this.#hasMembers;
    return this.fault.refuse(
      isTar ? 'the archive ends in the middle' : 'the body is not a tar archive: it ends within the first header',
    );
  }

  /** Returns the next `length` bytes, or null when the archive ends earlier. */
  async #take(length: number): Promise<Buffer | null> {
    while (this.#buffer.length - this.#at < length) if (!(await this.#fill())) return null;
    const bytes = this.#buffer.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done) return false;
    const rest = this.#buffer.subarray(this.#at);
    const piece = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    this.#at = 0;
    return true;
  }
}

/** Compares block by block, because gigabytes of zeros may follow the end of an archive. */
function isEmpty(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += emptyPiece.length) {
    const part = bytes.subarray(at, at + emptyPiece.length);
    if (!part.equals(emptyPiece.subarray(0, part.length))) return false;
  }
  return true;
}
