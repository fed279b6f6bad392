/** Files of any size in both directions, in constant memory and with their digest compared. */
import { Backoff } from '../backoff.ts';
import {
  isProgram,
  local,
  localFailure,
  modeOfFile,
  onThisMachine,
  packed,
  piecesOfFile,
  piecesOfOpenFile,
  placeOfFile,
  unpack,
} from './local.ts';
import { bytesOf, isBytes, piecesOf } from '../lines.ts';
import { BoxError, Handle, resultOf, unreachable, type Result } from '../result.ts';
import { newDigest, type Digest } from './sha256.ts';
import type { Answer, CallOptions, Query, Transport } from '../transport.ts';
import type { FileStat } from '../wire.ts';

const fileType = 'application/octet-stream';

/** A path on this machine, or the content itself. What can be read once only is sent once. */
export type Source =
  | string
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | AsyncIterable<Uint8Array>
  | ReadableStream<Uint8Array>;

export interface TransferOptions extends CallOptions {
  /** Called with the bytes that have been read or received so far, from 0 again when a transfer begins anew. */
  readonly onProgress?: (bytes: number) => void;
}

export async function upload(
  transport: Transport,
  source: Source,
  query: Query<'files.upload'>,
  options: TransferOptions,
): Promise<Result<Answer<'files.upload'>>> {
  return await resultOf(async () => {
    const content = new Content(source, piecesOfFile, options.onProgress, fileType);
    const mode = typeof source === 'string' ? { mode: await modeOfFile(source) } : {};
    const sent = await transport.send('files.upload', { query: { ...mode, ...query } }, content, options);
    if (!sent.ok) throw sent.error;
    const { path, sha256 } = sent.body.data;
    if (sha256 !== content.sha256()) throw differs(`what arrived as ${path} is not what was sent`);
    return sent.body;
  });
}

/** An archive, or a directory on this machine. */
export async function uploadDirectory(
  transport: Transport,
  source: string | ReadableStream<Uint8Array>,
  query: Query<'files.unpack'>,
  options: TransferOptions,
): Promise<Result<Answer<'files.unpack'>>> {
  const content = new Content(source, packed, options.onProgress, 'application/x-tar');
  return await transport.send('files.unpack', { query }, content, options);
}

/** What an upload sends, made anew for each attempt. */
export class Content {
  #digest: Digest | null = null;
  #pieces: AsyncGenerator<Uint8Array> | null = null;
  #fault: BoxError | null = null;
  #isUsed = false;

  constructor(
    private readonly source: Source,
    private readonly piecesOfPath: (path: string) => AsyncIterable<Uint8Array>,
    private readonly onProgress: TransferOptions['onProgress'],
    readonly type: typeof fileType | 'application/x-tar',
  ) {}

  /** Throws where an attempt has failed that cannot be repeated. */
  async body(): Promise<ReadableStream<Uint8Array> | Blob> {
    if (this.#fault !== null) throw this.#fault;
    const { source } = this;
    const isKept = typeof source === 'string' || source instanceof Blob || isBytes(source);
    if (this.#isUsed && !isKept) {
      const hint = 'Nothing of it is there. Send it again from its beginning.';
      throw new BoxError({ code: 'gave_up', message: 'the upload broke off, and its source can be read once', hint });
    }
    this.#isUsed = true;
    // The daemon answers the digest of a file, and none of an archive.
    this.#digest = this.type === fileType ? await newDigest() : null;
    this.#pieces = this.#read(this.#digest);
    const stream = streamOf(this.#pieces);
    return isProgram ? stream : await new Response(stream).blob();
  }

  /** The attempt is over. Not every runtime cancels the stream of a request that has failed. */
  close(): void {
    void this.#pieces?.return(undefined);
  }

  /** Of the file that the last attempt has sent. */
  sha256(): string {
    return this.#digest?.hex() ?? '';
  }

  #opened(): AsyncIterable<Uint8Array> {
    const { source } = this;
    if (typeof source === 'string') return this.piecesOfPath(source);
    const stream = isBytes(source) ? new Blob([bytesOf(source)]) : source;
    if (stream instanceof Blob) return piecesOf(stream.stream());
    return stream instanceof ReadableStream ? piecesOf(stream) : stream;
  }

  /** An attempt that has failed may still get a piece while the next one runs, so each has a digest of its own. */
  async *#read(digest: Digest | null): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of counted(this.#opened(), this.onProgress)) {
        digest?.update(piece);
        yield piece;
      }
    } catch (error) {
      // The request fails as if the connection had broken; the next attempt says why.
      this.#fault =
        error instanceof BoxError ? error : localFailure(`the source of the upload: ${String(error)}`, error);
      throw error;
    }
  }
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

const downloadAgain = 'Download it again; a file that was being saved goes on where it stopped.';

/** A file that is read when its bytes are asked for, each time from the beginning. */
export class Download extends Handle {
  readonly size: number;
  readonly etag: string;

  constructor(
    private readonly transport: Transport,
    private readonly query: Omit<Query<'files.download'>, 'change_policy'>,
    /** As it was when the download was made. When the file has changed since, reading it fails. */
    readonly stat: FileStat,
    private readonly options: TransferOptions,
  ) {
    super();
    this.size = stat.size;
    this.etag = stat.etag;
  }

  /** Throws a BoxError, at the end also where the bytes are not those of the file. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const digest = await newDigest();
    for await (const piece of this.#piecesFrom(0)) {
      digest.update(piece);
      yield piece;
    }
    await this.#verify(digest);
  }

  async bytes(): Promise<Result<Uint8Array>> {
    return await resultOf(async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of this) pieces.push(piece);
      return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    });
  }

  /**
   * Writes a file on this machine, under its name when it is whole. What a broken download leaves is beside it, and the
   * next one of the same content goes on there.
   */
  async saveTo(path: string): Promise<Result<void>> {
    return await resultOf(async () => {
      const { open, rename, rm } = await local('fs/promises');
      const place = await placeOfFile(path);
      const part = `${place}.${this.etag.replaceAll(/\W+/g, '-').slice(1)}part`;
      const file = await onThisMachine(part, () => open(part, 'a+', this.stat.mode & 0o777));
      const digest = await newDigest();
      try {
        for await (const piece of piecesOfOpenFile(part, file)) digest.update(piece);
        const { size } = await file.stat();
        for await (const piece of this.#piecesFrom(size)) {
          digest.update(piece);
          await onThisMachine(part, () => file.writeFile(piece));
        }
      } finally {
        await file.close();
      }
      await this.#verify(digest).catch(async (error: unknown) => {
        // What is right stays for the next download, also where the daemon is away now.
        if (error instanceof BoxError && error.code === 'content_differs') await rm(part);
        throw error;
      });
      await onThisMachine(path, () => rename(part, place));
    });
  }

  async *#piecesFrom(from: number): AsyncGenerator<Uint8Array> {
    const { signal, onAway, onProgress, retryMs } = this.options;
    const backoff = new Backoff(() => retryMs ?? this.transport.retryMs, onAway);
    let at = from;
    onProgress?.(at);
    for (;;) {
      // A range is never compressed, so that its bytes are those of the file.
      const headers = { range: `bytes=${at}-`, 'if-match': this.etag };
      const opened = await this.transport.open('files.download', { query: this.query }, { ...this.options, headers });
      if (!opened.ok && opened.error.code === 'range_not_satisfiable' && opened.error.data['size'] === at) return;
      if (!opened.ok) throw opened.error;
      // A proxy may leave the length out. A file of the kernel says that it has none.
      const length = opened.body.headers.get('content-length');
      const end = length === null ? this.size : at + Number(length);
      let lost: BoxError | null = null;
      try {
        for await (const piece of this.transport.pieces(opened.body, signal)) {
          backoff.reset();
          at += piece.length;
          yield piece;
          onProgress?.(at);
        }
      } catch (error) {
        if (!(error instanceof BoxError) || !error.retryable) throw error;
        lost = error;
      }
      if (at >= end && (lost === null || length !== null || this.size > 0)) return;
      lost ??= unreachable(`${this.transport.address} has closed the connection`);
      if (!(await backoff.wait(lost, 0, signal))) throw backoff.gaveUp(downloadAgain, lost);
    }
  }

  /** A file of the kernel has no size, and other bytes each time. */
  async #verify(digest: Digest): Promise<void> {
    if (this.size === 0) return;
    const found = await this.transport.call('files.stat', { query: { ...this.query, sha256: true } }, this.options);
    if (!found.ok) throw found.error;
    const { sha256, etag } = found.body.data;
    if (etag !== this.etag) throw differs(`${this.stat.path} has changed while it was read`);
    if (sha256 !== digest.hex()) throw differs(`what was read of ${this.stat.path} is not what is there`);
  }
}

/** The target is a directory on this machine, or takes the archive. */
export async function downloadDirectory(
  transport: Transport,
  target: string | WritableStream<Uint8Array>,
  query: Query<'files.pack'>,
  options: TransferOptions,
): Promise<Result<void>> {
  return await resultOf(async () => {
    const backoff = new Backoff(() => options.retryMs ?? transport.retryMs, options.onAway);
    for (;;) {
      try {
        return await receiveDirectory(transport, target, query, options);
      } catch (error) {
        // The tar of this machine ends with the program that is interrupted.
        options.signal?.throwIfAborted();
        const isLost = error instanceof BoxError && error.code === 'unreachable' && typeof target === 'string';
        if (!isLost || !(await backoff.wait(error, 0, options.signal))) throw error;
      }
    }
  });
}

/** The same files come again after a broken connection, in place of those that have come. */
async function receiveDirectory(
  transport: Transport,
  target: string | WritableStream<Uint8Array>,
  query: Query<'files.pack'>,
  options: TransferOptions,
): Promise<void> {
  const opened = await transport.open('files.pack', { query }, options);
  if (!opened.ok) throw opened.error;
  const pieces = counted(transport.pieces(opened.body, options.signal), options.onProgress);
  if (typeof target === 'string') await unpack(pieces, target);
  else await streamOf(pieces).pipeTo(target);
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: TransferOptions['onProgress'],
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  onProgress?.(0);
  for await (const piece of pieces) {
    bytes += piece.length;
    yield piece;
    onProgress?.(bytes);
  }
}

function differs(message: string): BoxError {
  const hint = 'Transfer it again; nothing else may write it meanwhile.';
  return new BoxError({ code: 'content_differs', message, hint, retryable: true });
}
