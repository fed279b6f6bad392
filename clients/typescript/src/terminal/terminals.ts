/** Terminals of a sandbox: shells that clients share, and that stay when no client is attached. */
import { newId } from '../ids.ts';
import { bytesOf, type Bytes } from '../lines.ts';
import { Handle, Plane, resultOf, type Result } from '../result.ts';
import { TerminalConnection, type AttachOptions } from './connection.ts';
import type { TerminalEvent, TerminalExit } from './events.ts';
import type { Answer, Body, CallOptions, Query, Transport } from '../transport.ts';

export type { AttachOptions };
export type OpenOptions = Omit<Body<'terminals.create'>, 'session_id'> & Pick<AttachOptions, 'offset'>;
type ExecMore = Partial<Omit<Body<'terminals.exec'>, 'command'>>;
type SignalName = NonNullable<Body<'terminals.signal'>['signal']>;

export class Terminals extends Plane {
  constructor(private readonly transport: Transport) {
    super();
  }

  /** Makes a terminal, or finds the one of its `id`, without attaching to it. */
  async create(
    more: Body<'terminals.create'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.create'>>> {
    const isRepeatable = more.id !== undefined; // The daemon finds the first one by its name.
    return await this.transport.call('terminals.create', { body: more }, { isRepeatable, ...options });
  }

  /**
   * Makes a terminal and attaches to it: with an `id`, to the terminal of that name when there is one. Without an `id`,
   * the daemon closes the terminal after an hour without use.
   */
  async open({ offset, ...more }: OpenOptions = {}, options: CallOptions = {}): Promise<Result<Terminal>> {
    const id = more.id ?? newId('term');
    const made = await this.create(more.id === undefined ? { id, retention: 'expiring', ...more } : more, options);
    const isThere = !made.ok && made.error.code === 'session_exists';
    if (!made.ok && !isThere) return made;
    const isNew = more.id === undefined || (made.ok && made.body.data.created);
    const from = offset ?? (isNew ? 0 : undefined);
    return await this.attach(id, { ...more, ...(from !== undefined && { offset: from }) }, options);
  }

  /** A terminal that was made before, by any client. */
  async attach(
    id: string,
    more: AttachOptions = {},
    { signal, retryMs, onAway }: CallOptions = {},
  ): Promise<Result<Terminal>> {
    return await resultOf(async () => {
      signal?.throwIfAborted();
      const connection = new TerminalConnection(this.transport, id, more, retryMs, onAway);
      const stop = () => connection.detach();
      signal?.addEventListener('abort', stop);
      try {
        await connection.attached();
      } finally {
        signal?.removeEventListener('abort', stop);
        signal?.throwIfAborted();
      }
      return new Terminal(this, id, connection);
    });
  }

  async list(options: CallOptions = {}): Promise<Result<Answer<'terminals.list'>>> {
    return await this.transport.call('terminals.list', {}, options);
  }

  async get(id: string, options: CallOptions = {}): Promise<Result<Answer<'terminals.get'>>> {
    return await this.transport.call('terminals.get', { path: { id } }, options);
  }

  /** Types a command into the shell and waits for its end, so that `cd` and `export` last. */
  async exec(
    id: string,
    command: string,
    more: ExecMore = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.exec'>>> {
    return await this.transport.call('terminals.exec', { path: { id }, body: { command, ...more } }, options);
  }

  /** What a person would see. Can wait for a text, or until the screen is quiet. */
  async screen(
    id: string,
    query: Query<'terminals.screen'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.screen'>>> {
    return await this.transport.call('terminals.screen', { path: { id }, query }, options);
  }

  /** To the job in the foreground. */
  async signal(
    id: string,
    signal: SignalName = 'SIGINT',
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.signal'>>> {
    return await this.transport.call('terminals.signal', { path: { id }, body: { signal } }, options);
  }

  /** Changes what people call the terminal; null removes the name. */
  async rename(
    id: string,
    name: string | null,
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.resize'>>> {
    return await this.transport.call('terminals.resize', { path: { id }, body: { name } }, options);
  }

  /** Ends the shell and everything in it. */
  async close(id: string, options: CallOptions = {}): Promise<Result<Answer<'terminals.close'>>> {
    return await this.transport.call('terminals.close', { path: { id } }, options);
  }
}

/** A client at a terminal, until it detaches or the shell ends. Goes on by itself when the connection breaks. */
export class Terminal extends Handle {
  constructor(
    private readonly plane: Terminals,
    readonly id: string,
    private readonly connection: TerminalConnection,
  ) {
    super();
  }

  /** Events come once, to one reader. The daemon waits for a slow reader, and drops what it no longer keeps. */
  [Symbol.asyncIterator](): AsyncGenerator<TerminalEvent> {
    return this.connection.events();
  }

  /** Reads to the end of the shell, and drops the output. */
  async wait(): Promise<Result<TerminalExit>> {
    return await resultOf(async () => await this.connection.toTheEnd());
  }

  /** Types. Resolves when the daemon has the input, which is kept while the connection is lost. */
  async write(input: string | Bytes): Promise<Result<void>> {
    return await resultOf(() => this.connection.write(bytesOf(input)));
  }

  /** Typed bytes that were never sent. */
  get unsentBytes(): number {
    return this.connection.unsentBytes;
  }

  resize(cols: number, rows: number): void {
    this.connection.resize(cols, rows);
  }

  /** Makes the next output a `restore` of the current screen, which includes everything that was not read. */
  restore(): void {
    this.connection.restore();
  }

  async exec(
    command: string,
    more: ExecMore = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.exec'>>> {
    return await this.plane.exec(this.id, command, more, options);
  }

  async screen(
    query: Query<'terminals.screen'> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'terminals.screen'>>> {
    return await this.plane.screen(this.id, query, options);
  }

  async signal(signal?: SignalName, options: CallOptions = {}): Promise<Result<Answer<'terminals.signal'>>> {
    return await this.plane.signal(this.id, signal, options);
  }

  /** Leaves the terminal, which goes on. */
  detach(): void {
    this.connection.detach();
  }

  async close(options: CallOptions = {}): Promise<Result<Answer<'terminals.close'>>> {
    this.detach();
    return await this.plane.close(this.id, options);
  }
}
