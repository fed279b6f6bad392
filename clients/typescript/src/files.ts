/** Files of a sandbox. Paths are absolute, or relative to the workspace. */
import { operationsOf, type Fields, type OperationsOf } from './operations.ts';
import { Plane, succeeded, type Result } from './result.ts';
import {
  Download,
  downloadDirectory,
  upload,
  uploadDirectory,
  type Source,
  type TransferOptions,
} from './transfer/transfers.ts';
import type { Answer, Body, CallOptions, Transport } from './transport.ts';
import { Watch } from './watch.ts';
import type { Operations } from './wire.ts';

/** The fields of a request that are no argument of the method. `user` is the account that owns what is made. */
type More<Name extends `files.${string}` & keyof Operations, Given extends string> = Partial<Omit<Fields<Name>, Given>>;

export type FileEdit = NonNullable<Body<'files.edit'>['edits']>[number];

export class Files extends Plane {
  readonly #calls: OperationsOf<'files'>;

  constructor(private readonly transport: Transport) {
    super();
    this.#calls = operationsOf(transport, 'files');
  }

  /** The text of a file, or a part of it. */
  async read(
    path: string,
    more: More<'files.read', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.read'>>> {
    return await this.#calls.read({ path, ...more }, options);
  }

  /** Replaces the file as a whole: a reader sees the old content or the new one. */
  async write(
    path: string,
    content: string,
    more: More<'files.write', 'path' | 'content' | 'encoding'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.write'>>> {
    // The same content twice is the content once, unless it is appended or the file has to be as before.
    const isRepeatable = !more.append && more.if_match === undefined && more.if_none_match === undefined;
    return await this.#calls.write({ path, content, ...more }, { isRepeatable, ...options });
  }

  /** Makes all edits in one step, or none. An `old_str` has to occur once, unless the edit has a `replace_mode`. */
  async edit(
    path: string,
    edits: FileEdit | readonly FileEdit[],
    more: More<'files.edit', 'path' | 'edits' | 'command' | keyof FileEdit> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.edit'>>> {
    const body = { path, edits: [edits].flat(), ...more };
    return await this.#calls.edit(body, options);
  }

  async list(
    path: string,
    more: More<'files.list', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.list'>>> {
    return await this.#calls.list({ path, ...more }, options);
  }

  async stat(
    path: string,
    more: More<'files.stat', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.stat'>>> {
    return await this.#calls.stat({ path, ...more }, options);
  }

  /** Finds files by a pattern of their names. */
  async search(
    path: string,
    pattern: string,
    more: More<'files.search', 'path' | 'pattern'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.search'>>> {
    return await this.#calls.search({ path, pattern, ...more }, options);
  }

  /** Finds lines of files by a regular expression. */
  async grep(
    path: string,
    pattern: string,
    more: More<'files.grep', 'path' | 'pattern'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.grep'>>> {
    return await this.#calls.grep({ path, pattern, ...more }, { isRepeatable: true, ...options });
  }

  async copy(
    source: string,
    destination: string,
    more: More<'files.copy', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.copy'>>> {
    return await this.#calls.copy({ source, destination, ...more }, options);
  }

  async move(
    source: string,
    destination: string,
    more: More<'files.move', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.move'>>> {
    return await this.#calls.move({ source, destination, ...more }, options);
  }

  async delete(
    path: string,
    more: More<'files.delete', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.delete'>>> {
    return await this.#calls.delete({ path, ...more }, options);
  }

  async makeDirectory(
    path: string,
    more: More<'files.mkdir', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.mkdir'>>> {
    return await this.#calls.mkdir({ path, ...more }, options);
  }

  /**
   * Sends a file of this machine with its mode, or a content, and puts it in its place in one step: a reader sees the old content or
   * the new one. It is sent again when the connection breaks, unless the source can be read once only.
   */
  async upload(
    source: Source,
    path: string,
    more: More<'files.upload', 'path'> = {},
    options: TransferOptions = {},
  ): Promise<Result<Answer<'files.upload'>>> {
    return await upload(this.transport, source, { path, ...more }, options);
  }

  /** The bytes of a file, which come when they are read or saved. */
  async download(
    path: string,
    more: Pick<More<'files.download', 'path'>, 'user'> = {},
    options: TransferOptions = {},
  ): Promise<Result<Download>> {
    const query = { path, ...more };
    const found = await this.transport.call('files.stat', { query }, options);
    return found.ok ? succeeded(new Download(this.transport, query, found.body.data, options)) : found;
  }

  /** Sends a directory of this machine, or a tar archive, whose entries join those that are there. */
  async uploadDirectory(
    source: string | ReadableStream<Uint8Array>,
    path: string,
    more: More<'files.unpack', 'path'> = {},
    options: TransferOptions = {},
  ): Promise<Result<Answer<'files.unpack'>>> {
    return await uploadDirectory(this.transport, source, { path, ...more }, options);
  }

  /** Into a directory of this machine, whose entries it joins, or as a tar archive. */
  async downloadDirectory(
    path: string,
    target: string | WritableStream<Uint8Array>,
    more: More<'files.pack', 'path'> = {},
    options: TransferOptions = {},
  ): Promise<Result<void>> {
    return await downloadDirectory(this.transport, target, { path, ...more }, options);
  }

  /** Changes of a file, or below a directory, from now on. */
  async watch(
    path: string,
    more: Partial<Omit<Body<'watch.create'>, 'path'>> = {},
    options: CallOptions = {},
  ): Promise<Result<Watch>> {
    return await Watch.start(this.transport, { path, ...more }, options);
  }
}
