/** Files of a sandbox. Paths are absolute, or relative to the workspace. */
import { Plane, type Result } from './result.ts';
import type { Answer, Body, CallOptions, Input, Query, Transport } from './transport.ts';

type Posted = `files.${'write' | 'edit' | 'grep' | 'copy' | 'move' | 'delete' | 'mkdir'}`;
/** The fields of a request that are no argument of the method. `user` is the account that owns what is made. */
type More<Name extends Posted, Given extends string> = Partial<Omit<Body<Name>, Given>> & { readonly user?: string };

export type FileEdit = NonNullable<Body<'files.edit'>['edits']>[number];

export class Files extends Plane {
  constructor(private readonly transport: Transport) {
    super();
  }

  /** The text of a file, or a part of it. */
  async read(
    path: string,
    more: Partial<Query<'files.read', 'path'>> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.read'>>> {
    return await this.transport.call('files.read', { query: { path, ...more } }, options);
  }

  /** Replaces the file as a whole: a reader sees the old content or the new one. */
  async write(
    path: string,
    content: string,
    { user, ...more }: More<'files.write', 'path' | 'content' | 'encoding'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.write'>>> {
    // The same content twice is the content once, unless it is appended or the file has to be as before.
    const isRepeatable = !more.append && more.if_match === undefined && more.if_none_match === undefined;
    return await this.#post('files.write', user, { path, content, ...more }, { isRepeatable, ...options });
  }

  /** Makes all edits in one step, or none. An `old_str` has to occur once, unless the edit has a `replace_mode`. */
  async edit(
    path: string,
    edits: FileEdit | readonly FileEdit[],
    { user, ...more }: More<'files.edit', 'path' | 'edits' | 'command' | keyof FileEdit> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.edit'>>> {
    const body = { path, edits: [edits].flat(), ...more };
    return await this.#post('files.edit', user, body, options);
  }

  async list(
    path: string,
    more: Partial<Query<'files.list', 'path'>> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.list'>>> {
    return await this.transport.call('files.list', { query: { path, ...more } }, options);
  }

  async stat(
    path: string,
    more: Partial<Query<'files.stat', 'path'>> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.stat'>>> {
    return await this.transport.call('files.stat', { query: { path, ...more } }, options);
  }

  /** Finds files by a pattern of their names. */
  async search(
    path: string,
    pattern: string,
    more: Partial<Query<'files.search', 'path' | 'pattern'>> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.search'>>> {
    return await this.transport.call('files.search', { query: { path, pattern, ...more } }, options);
  }

  /** Finds lines of files by a regular expression. */
  async grep(
    path: string,
    pattern: string,
    { user, ...more }: More<'files.grep', 'path' | 'pattern'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.grep'>>> {
    return await this.#post('files.grep', user, { path, pattern, ...more }, { isRepeatable: true, ...options });
  }

  async copy(
    source: string,
    destination: string,
    { user, ...more }: More<'files.copy', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.copy'>>> {
    return await this.#post('files.copy', user, { source, destination, ...more }, options);
  }

  async move(
    source: string,
    destination: string,
    { user, ...more }: More<'files.move', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.move'>>> {
    return await this.#post('files.move', user, { source, destination, ...more }, options);
  }

  async delete(
    path: string,
    { user, ...more }: More<'files.delete', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.delete'>>> {
    return await this.#post('files.delete', user, { path, ...more }, options);
  }

  async makeDirectory(
    path: string,
    { user, ...more }: More<'files.mkdir', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.mkdir'>>> {
    return await this.#post('files.mkdir', user, { path, ...more }, options);
  }

  async #post<Name extends Posted>(
    name: Name,
    user: string | undefined,
    body: Body<Name>,
    options: CallOptions,
  ): Promise<Result<Answer<Name>>> {
    const input = { query: user === undefined ? {} : { user }, body };
    return await this.transport.call(name, input as unknown as Input<Name>, options);
  }
}
