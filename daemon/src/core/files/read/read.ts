/** Reads a file, as text or bytes, completely or by lines. */
import { FileFailure, asFileOperation, type FileOperation } from '../../../kit/file-failure.ts';
import type { FilesContext } from '../context.ts';
import { etagOf } from './etag.ts';
import { openFile, type OpenedFile } from './open-file.ts';
import { readLines } from './read-lines.ts';

/** 16 MiB (contract, Files). */
export const maxReadBytes = 16 * 1024 * 1024;

export interface ReadRequest {
  readonly path: string;
  readonly user: string | null;
  /** First line, counted from 0. A negative number counts from the end; null is the first line. */
  readonly startLine: number | null;
  /** Line to stop before, counted the same way; null is the end of the file. */
  readonly endLine: number | null;
  readonly encoding: 'utf-8' | 'base64';
}

export interface FileContent {
  readonly path: string;
  readonly content: string;
  /** Number of lines of the whole file; null when the file is not read as text. */
  readonly lineCount: number | null;
  readonly size: number;
  readonly etag: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export async function readFile({ paths }: FilesContext, request: ReadRequest): Promise<FileContent> {
  const path = paths.resolve(request.path, request.user);
  return asFileOperation('read', path, async () => {
    await using opened = closedLater(await openFile(path, 'read'));
    const { startLine, endLine, encoding } = request;
    const isPart = encoding === 'utf-8' && (startLine !== null || endLine !== null);
    if (isPart && opened.stat.size > maxReadBytes) {
      const { bytes: part, lineCount } = await readLines(opened.file, {
        from: startLine ?? 0,
        to: endLine,
        maxBytes: maxReadBytes,
      });
      if (part === null) throw tooLarge(path, 'read', Number(opened.stat.size));
      const common = { path, size: Number(opened.stat.size), etag: etagOf(opened.stat), lineCount };
      return { ...common, content: decodeText(part, path, 'read') };
    }
    const bytes = await readWhole(opened, path, 'read');
    const common = { path, size: bytes.length, etag: etagOf(opened.stat) };
    if (encoding === 'base64') return { ...common, content: bytes.toString('base64'), lineCount: null };
    const text = decodeText(bytes, path, 'read');
    return { ...common, ...linesOf(text, startLine ?? 0, endLine) };
  });
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
): Promise<Buffer<ArrayBuffer>> {
  if (stat.size > maxReadBytes) throw tooLarge(path, operation, Number(stat.size));
  const pieces: Buffer<ArrayBuffer>[] = [];
  for (let length = 0; ;) {
    const rest = Number(stat.size) - length;
    const buffer = Buffer.allocUnsafe(Math.max(rest + 1, 4096));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, length);
    if (bytesRead === 0) return joined(pieces);
    length += bytesRead;
    if (length > maxReadBytes) throw tooLarge(path, operation, length);
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

/** Throws `file_not_text`. */
export function decodeText(bytes: Uint8Array, path: string, operation: 'read' | 'edit'): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new FileFailure({ operation, path, errnoName: 'EILSEQ', message: `${path}: is not UTF-8 text` });
  }
}

/** A line ends after its newline. The last line may have no newline. */
function linesOf(text: string, from: number, to: number | null): { content: string; lineCount: number } {
  let lineCount = 0;
  for (let at = 0; at < text.length; lineCount++) at = behindLine(text, at);
  const offsetOf = (line: number) => offsetOfLine(text, line < 0 ? Math.max(0, lineCount + line) : line);
  const start = offsetOf(from);
  return { content: text.slice(start, Math.max(start, to === null ? text.length : offsetOf(to))), lineCount };
}

function offsetOfLine(text: string, line: number): number {
  let at = 0;
  for (let i = 0; i < line && at < text.length; i++) at = behindLine(text, at);
  return at;
}

function behindLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline + 1;
}

function tooLarge(path: string, operation: FileOperation, size: number): FileFailure {
  return new FileFailure({
    operation,
    path,
    errnoName: 'EFBIG',
    message: `${path}: has ${size} bytes; at most ${maxReadBytes} are read in one answer`,
    hint: operation === 'read' ? 'Read some lines with start_line and end_line.' : null,
    next: { operation: 'files.download' },
  });
}
