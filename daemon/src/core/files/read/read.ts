/** Reads a file, as text or bytes, completely or by lines. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import { FileFailure, asFileOperation, type FileOperation } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { etagOf } from './etag.ts';
import { openFile, type OpenedFile } from './open-file.ts';
import { findLines, readRange, wholeLength } from './read-lines.ts';
import { lineEndOf } from '../line-ends.ts';
import { decodeBytes, encodingOf, type DecodedText, type TextEncoding } from './text-encoding.ts';

/** 16 MiB (contract, Files). */
export const maxReadBytes = 16 * 1024 * 1024;

export interface ReadRequest extends FileRequest {
  /** First line, counted from 0. A negative number counts from the end; null is the first line. */
  readonly startLine: number | null;
  /** Line to stop before, counted the same way; null is the end of the file. */
  readonly endLine: number | null;
  /** First byte, in place of a first line; null is the first line. */
  readonly offset?: number | null;
  /** Cuts the content after whole lines, or after whole characters of a longer line; null refuses what is too large. */
  readonly maxBytes?: number | null;
  readonly encoding: 'utf-8' | 'base64';
}

export interface FileContent {
  readonly path: string;
  readonly content: string;
  /** Number of lines of the whole file; null when the file is not read as text. */
  readonly lineCount: number | null;
  readonly size: number;
  readonly etag: string;
  /** The encoding of the file; null when the file is not read as text. */
  readonly encoding: TextEncoding | null;
  /** Where the rest begins; null when the content was not cut. */
  readonly nextOffset: number | null;
}

export async function readFile({ paths, room }: FilesContext, request: ReadRequest): Promise<FileContent> {
  const path = paths.resolve(request.path, request.user);
  return asFileOperation('read', path, async () => {
    await using opened = closedLater(await openFile(path, 'read'));
    const maxBytes = Math.min(maxReadBytes, room.maxBytes);
    using held = new DisposableStack();
    const admit = (bytes: number) => void held.use(room.admit(bytes));
    const { startLine, endLine, encoding, offset = null } = request;
    const isBounded = offset !== null || (request.maxBytes ?? null) !== null;
    const isOfLines = encoding === 'utf-8' && (startLine !== null || endLine !== null);
    if (isBounded || (isOfLines && opened.stat.size > maxBytes)) {
      return { path, etag: etagOf(opened.stat), ...(await readPart(opened, path, { request, maxBytes, admit })) };
    }
    admit(Math.min(Number(opened.stat.size), maxBytes));
    const bytes = await readWhole(opened, path, 'read', maxBytes);
    const common = { path, size: bytes.length, etag: etagOf(opened.stat), nextOffset: null };
    if (encoding === 'base64') return { ...common, content: bytes.toString('base64'), lineCount: null, encoding: null };
    const decoded = decodeText(bytes, path, 'read');
    return { ...common, encoding: decoded.encoding, ...linesOf(decoded.text, startLine ?? 0, endLine) };
  });
}

interface PartOptions {
  readonly request: ReadRequest;
  /** What the daemon has room for. */
  readonly maxBytes: number;
  /** Throws when there is no room. */
  readonly admit: (bytes: number) => void;
}

/** Reads some lines, or what begins at an offset, from a file of any size. Bytes have no lines. */
async function readPart(
  opened: OpenedFile,
  path: string,
  { request, maxBytes, admit }: PartOptions,
): Promise<Omit<FileContent, 'path' | 'etag'>> {
  const { startLine, endLine, offset = null, maxBytes: limit = null } = request;
  const encoding = request.encoding === 'base64' ? null : await startOf(opened);
  const size = Number(opened.stat.size);
  // Files of procfs and sysfs have a size of 0, and only reading them shows where they end.
  const lines =
    encoding === null && size > 0
      ? { start: 0, end: size, size, lineCount: null }
      : await findLines(opened.file, { from: startLine ?? 0, to: endLine, encoding: encoding ?? 'utf-8' });
  const start = offset ?? lines.start;
  const length = Math.max(0, lines.end - start);
  if (limit === null && length > maxBytes) throw tooLarge(path, 'read', lines.size, maxBytes);
  const taken = Math.min(length, limit ?? length, maxBytes);
  admit(taken);
  const bytes = await readRange(opened.file, { start, end: start + taken });
  if (offset !== null && encoding !== null && isWithinCharacter(bytes, start, encoding))
    throw new CoreError('bad_argument', `the offset ${offset} is within a character`, {
      hint: 'Pass the position that the read before has answered, or read bytes.',
    });
  const isCut = taken < length;
  const part = isCut && encoding !== null ? bytes.subarray(0, wholeLength(bytes, encoding)) : bytes;
  return {
    content: encoding === null ? part.toString('base64') : decodeText(part, path, 'read', encoding).text,
    lineCount: encoding === null ? null : lines.lineCount,
    size: lines.size,
    encoding,
    nextOffset: isCut ? start + part.length : null,
  };
}

/** Of UTF-16, whose units have two bytes, or of UTF-8, whose later bytes begin with 10. */
function isWithinCharacter(bytes: Uint8Array, start: number, encoding: TextEncoding): boolean {
  return encoding === 'utf-8' ? ((bytes[0] ?? 0) & 0xc0) === 0x80 : start % 2 === 1;
}

/** The answer does not wait for the thread that closes the file. */
function closedLater(opened: OpenedFile): OpenedFile {
  // A file that was only read loses nothing when its close fails.
  const close = async () => void opened.file.close().catch(() => undefined);
  return { ...opened, [Symbol.asyncDispose]: close };
}

/** Reads until the end of the file, because procfs and sysfs files report a size of 0. Throws `file_too_large`. */
export async function readWhole(
  { file, stat }: OpenedFile,
  path: string,
  operation: FileOperation,
  maxBytes = maxReadBytes,
): Promise<Buffer<ArrayBuffer>> {
  if (stat.size > maxBytes) throw tooLarge(path, operation, Number(stat.size), maxBytes);
  const pieces: Buffer<ArrayBuffer>[] = [];
  for (let length = 0; ;) {
    const rest = Number(stat.size) - length;
    const buffer = Buffer.allocUnsafe(Math.max(rest + 1, 4096));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, length);
    if (bytesRead === 0) return joined(pieces);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(path, operation, length, maxBytes);
    pieces.push(buffer.subarray(0, bytesRead));
    // The file has its size and no more. Files of procfs and sysfs have another size than their content.
    const isWhole = stat.size > 0n && length >= stat.size && bytesRead < buffer.length;
    if (isWhole) return joined(pieces);
  }
}

function joined(pieces: readonly Buffer<ArrayBuffer>[]): Buffer<ArrayBuffer> {
  const [first] = pieces;
  return pieces.length === 1 && first ? first : Buffer.concat(pieces);
}

async function startOf({ file }: OpenedFile): Promise<TextEncoding> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return encodingOf(buffer.subarray(0, bytesRead));
}

/** Throws `file_not_text`. A part of a file has the encoding of the file. */
export function decodeText(
  bytes: Uint8Array,
  path: string,
  operation: 'read' | 'edit',
  encoding = encodingOf(bytes),
): DecodedText {
  const decoded = decodeBytes(bytes, encoding);
  if (decoded) return decoded;
  const reason = encoding === 'utf-8' && bytes.includes(0) ? 'has a NUL byte, so it is not text' : 'is not UTF-8 text';
  throw new FileFailure({ operation, path, errnoName: 'EILSEQ', message: `${path}: ${reason}` });
}

/** A line ends after its line end. The last line may have none. */
function linesOf(text: string, from: number, to: number | null): { content: string; lineCount: number } {
  const lineEnd = lineEndOf(text);
  const behindLine = (at: number) => text.indexOf(lineEnd, at) + 1 || text.length;
  let lineCount = 0;
  for (let at = 0; at < text.length; lineCount++) at = behindLine(at);
  const offsetOf = (line: number) => {
    const wanted = line < 0 ? Math.max(0, lineCount + line) : line;
    let at = 0;
    for (let i = 0; i < wanted && at < text.length; i++) at = behindLine(at);
    return at;
  };
  const start = offsetOf(from);
  return { content: text.slice(start, Math.max(start, to === null ? text.length : offsetOf(to))), lineCount };
}

function tooLarge(path: string, operation: FileOperation, size: number, maxBytes: number): FileFailure {
  return FileFailure.of(operation, path, 'EFBIG', {
    message: `${path}: has ${size} bytes; at most ${maxBytes} are read in one answer`,
    advice: operation === 'read' ? advise`Read some lines with ${'startLine'} and ${'endLine'}.` : null,
    next: { operation: 'files.download' },
  });
}
