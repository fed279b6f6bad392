/** Reads a file whole, as text by lines or as bytes. */
import { FileFailure, asFileOperation, type FileOperation } from '../../kit/file-failure.ts';
import type { FilesContext } from './context.ts';
import { etagOf } from './etag.ts';
import { openFile, type OpenedFile } from './open-file.ts';

/** 16 MiB (contract, Files). */
export const maxReadBytes = 16 * 1024 * 1024;

export interface ReadRequest {
  readonly path: string;
  readonly user: string | null;
  /** From this line, counted from 0, or from the end where it is negative; null is the first. */
  readonly startLine: number | null;
  /** Up to this line and without it, counted alike; null is the end. */
  readonly endLine: number | null;
  readonly encoding: 'utf-8' | 'base64';
}

export interface FileContent {
  readonly path: string;
  readonly content: string;
  /** Of the whole file; null where it is not read as text. */
  readonly lineCount: number | null;
  readonly size: number;
  readonly etag: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export async function readFile({ places }: FilesContext, request: ReadRequest): Promise<FileContent> {
  const path = places.resolve(request.path, request.user);
  return asFileOperation('read', path, async () => {
    await using opened = await openFile(path, 'read');
    const bytes = await readWhole(opened, path, 'read');
    const common = { path, size: bytes.length, etag: etagOf(opened.stat) };
    if (request.encoding === 'base64') return { ...common, content: bytes.toString('base64'), lineCount: null };
    const text = decodeText(bytes, path, 'read');
    return { ...common, ...linesOf(text, request.startLine ?? 0, request.endLine) };
  });
}

/** Files of the kernel's own say that they are empty: what is read counts. Throws `file_too_large`. */
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
    if (bytesRead === 0) return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    length += bytesRead;
    if (length > maxReadBytes) throw tooLarge(path, operation, length);
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** Throws `file_not_text`. */
export function decodeText(bytes: Uint8Array, path: string, operation: 'read' | 'edit'): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new FileFailure({ operation, path, errnoName: 'EILSEQ', message: `${path}: is not UTF-8 text` });
  }
}

/** A line ends behind its newline; the last one may have none. */
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
    message: `${path}: has ${size} bytes; at most ${maxReadBytes} are read at once`,
  });
}
