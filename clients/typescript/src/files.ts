/** Files of a sandbox. Paths are absolute, or relative to the workspace. */
import { Plane, type Result } from './result.ts';
import type { Answer, Body, CallOptions, Query, Transport } from './transport.ts';

/** The fields of a request that are no argument of the method. `user` is the account that owns what is made. */
type More<
  Name extends 'files.edit' | 'files.grep' | 'files.copy' | 'files.move' | 'files.delete' | 'files.mkdir',
  Given extends string,
> = Partial<Omit<Body<Name>, Given>> & { readonly user?: string };
type WriteMore = Partial<Omit<Body<'files.write'>, 'path' | 'content' | 'encoding'>> & { readonly user?: string };

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
    { user, ...more }: WriteMore = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.write'>>> {
    // The same content twice is the content once, unless it is appended or the file has to be as before.
    const isRepeatable = !more.append && more.if_match === undefined && more.if_none_match === undefined;
    const input = { query: ofUser(user), body: { path, content, ...more } };
    return await this.transport.call('files.write', input, { isRepeatable, ...options });
  }

  /** Makes all edits in one step, or none. An `old_str` has to occur once, unless the edit has a `replace_mode`. */
  async edit(
    path: string,
    edits: FileEdit | readonly FileEdit[],
    { user, ...more }: More<'files.edit', 'path' | 'edits' | 'command' | keyof FileEdit> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.edit'>>> {
    const body = { path, edits: [edits].flat(), ...more };
    return await this.transport.call('files.edit', { query: ofUser(user), body }, options);
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
    const input = { query: ofUser(user), body: { path, pattern, ...more } };
    return await this.transport.call('files.grep', input, { isRepeatable: true, ...options });
  }

  async copy(
    source: string,
    destination: string,
    { user, ...more }: More<'files.copy', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.copy'>>> {
    return await this.transport.call(
      'files.copy',
      { query: ofUser(user), body: { source, destination, ...more } },
      options,
    );
  }

  async move(
    source: string,
    destination: string,
    { user, ...more }: More<'files.move', 'source' | 'path' | 'destination'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.move'>>> {
    return await this.transport.call(
      'files.move',
      { query: ofUser(user), body: { source, destination, ...more } },
      options,
    );
  }

  async delete(
    path: string,
    { user, ...more }: More<'files.delete', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.delete'>>> {
    return await this.transport.call('files.delete', { query: ofUser(user), body: { path, ...more } }, options);
  }

  async makeDirectory(
    path: string,
    { user, ...more }: More<'files.mkdir', 'path'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'files.mkdir'>>> {
    return await this.transport.call('files.mkdir', { query: ofUser(user), body: { path, ...more } }, options);
  }
}

function ofUser(user: string | undefined): { readonly user?: string } {
  return user === undefined ? {} : { user };
}
