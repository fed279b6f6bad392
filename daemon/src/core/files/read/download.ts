/** Opens a file for sending, whole or in part. The open file stays the same even if the path is replaced. */
import { guarding } from '../../../kit/guarding.ts';
import { promises as fs, type BigIntStats } from 'node:fs';
import { FileFailure, asFileOperation } from '../../../kit/file-failure.ts';
import { decodePath, showPath } from '../../../kit/text/path-text.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { etagOf } from './etag.ts';
import { openFile, type OpenedFile } from './open-file.ts';
import { readWhole } from './read.ts';

const operation = 'download';
/** A file up to this size is read before the response begins, so that the client gets one consistent state. */
const wholeBytes = 1024 * 1024;
const pieceBytes = 512 * 1024;

export interface DownloadRequest extends FileRequest {
  /** `abort` ends the download with an error if the file changes meanwhile. */
  readonly changePolicy: 'ignore' | 'abort';
}

export async function openDownload(context: FilesContext, request: DownloadRequest): Promise<Download> {
  const path = context.paths.resolve(request.path, request.user);
  return asFileOperation(operation, path, async () => {
    const opened = await openFile(path, operation);
    return await guarding(opened, async () => {
      // Procfs and sysfs files report a size of 0.
      const bytes = opened.stat.size === 0n ? await readWhole(opened, path, operation) : null;
      return new Download(context, path, opened, request.changePolicy, bytes);
    });
  });
}

/** The caller must dispose of the download. */
export class Download implements AsyncDisposable {
  readonly size: number;
  readonly etag: string;
  readonly modifiedMs: number;
  readonly mime: string;
  /** The largest range that `read` accepts. */
  readonly wholeBytes = wholeBytes;

  constructor(
    private readonly context: FilesContext,
    readonly path: string,
    private readonly opened: OpenedFile,
    private readonly changePolicy: DownloadRequest['changePolicy'],
    private readonly bytes: Buffer<ArrayBuffer> | null,
  ) {
    this.size = bytes?.length ?? Number(opened.stat.size);
    this.etag = etagOf(opened.stat);
    this.modifiedMs = Number(opened.stat.mtimeMs);
    this.mime = context.mimeOf(path);
  }

  /** Throws when the file does not match the etag that the caller expects. */
  assertKnown(isKnown: boolean): void {
    if (!isKnown) throw changed(this.path, `has changed: its etag is ${this.etag}`);
  }

  /** Where the open file is now, without symbolic links. */
  async realPath(): Promise<string> {
    return decodePath(await fs.readlink(`/proc/self/fd/${this.opened.file.fd}`, 'buffer'));
  }

  get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1);
  }

  /** A range that the runtime sends directly; null where it cannot. The runtime does not detect changes of the file. */
  slice(from: number, to: number): Blob | null {
    if (this.changePolicy !== 'ignore' || this.bytes) return null;
    return this.context.fileSlice(this.opened.file.fd, from, to);
  }

  /** Reads a range of at most `wholeBytes` before anything is sent. */
  read(from: number, to: number): Promise<Buffer<ArrayBuffer>> {
    return asFileOperation(operation, this.path, async () => {
      if (this.bytes) return this.bytes.subarray(from, to);
      const bytes = await this.#readAt(from, to - from);
      await this.#assertSame();
      return bytes;
    });
  }

  /** Yields a range. Throws when the file is shorter, or when it changes and the policy is `abort`. */
  async *pieces(from: number, to: number): AsyncGenerator<Uint8Array> {
    if (this.bytes) return yield this.bytes.subarray(from, to);
    for (let at = from; at < to;) {
      const length = Math.min(pieceBytes, to - at);
      const start = at;
      yield await asFileOperation(operation, this.path, async () => {
        const bytes = await this.#readAt(start, length);
        await this.#assertSame();
        return bytes;
      });
      at += length;
    }
  }

  async #readAt(from: number, length: number): Promise<Buffer<ArrayBuffer>> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.opened.file.read(bytes, at, length - at, from + at);
      if (bytesRead === 0) throw changed(this.path, 'has become shorter while it was read');
      at += bytesRead;
    }
    return bytes;
  }

  async #assertSame(): Promise<void> {
    if (this.changePolicy === 'ignore') return;
    const now: BigIntStats = await this.opened.file.stat({ bigint: true });
    if (etagOf(now) !== this.etag) throw changed(this.path, 'has changed while it was read');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened[Symbol.asyncDispose]();
  }
}

function changed(path: string, what: string): FileFailure {
  return FileFailure.of(operation, path, 'EBUSY', {
    code: 'precondition_failed',
    message: `${showPath(path)}: ${what}`,
    hint: 'Download the file again. Its etag shows whether the file has changed since.',
  });
}
