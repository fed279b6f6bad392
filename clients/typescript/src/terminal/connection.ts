/** Keeps one client at a terminal across lost connections: each byte of output once, and typed input once. */
import { Backoff, type OnAway } from '../backoff.ts';
import { Changes } from './changes.ts';
import { BoxError, unreachable } from '../result.ts';
import type { TerminalEvent, TerminalExit } from './events.ts';
import { TerminalQueue } from './queue.ts';
import { TerminalSocket, type Frame } from './socket.ts';
import { filled, queryOf, type Transport } from '../transport.ts';
import { TypedInput } from './typed-input.ts';
import { routes, type TerminalServerFrameError, type TerminalServerFrameReady } from '../wire.ts';

export interface AttachOptions {
  /** The byte of all output to begin with. Without it, the first output is a `restore` of the current screen. */
  readonly offset?: number;
  readonly readOnly?: boolean;
  /** The size of the caller's screen. The terminal gets it if this client was the last to type. */
  readonly cols?: number;
  readonly rows?: number;
}

/** Output is acknowledged at least this often, so that the daemon never waits for a fast reader. */
const acknowledgeBytes = 64 * 1024;
const tooSlow = 4003;
/** So many times in a row a daemon that answers HTTP may leave the first WebSocket unopened. */
const maxUnopened = 3;

export class TerminalConnection {
  exit: TerminalExit | null = null;
  readonly #queue: TerminalQueue;
  readonly #input = new TypedInput();
  readonly #changes = new Changes();
  readonly #backoff: Backoff;
  /** Aborted when there will be no further connection. */
  readonly #over = new AbortController();
  #error: Error | null = null;
  #socket: TerminalSocket | null = null;
  /** True from `ready` to the end of the connection. */
  #isAttached = false;
  #wasAttached = false;
  #isRestoring = false;
  #acknowledged = 0;
  #unopened = 0;
  /** Why the last connection did not open, or what ended it. */
  #lost: BoxError;
  #size: { readonly cols: number; readonly rows: number } | null;

  constructor(
    private readonly transport: Transport,
    private readonly id: string,
    private readonly options: AttachOptions,
    retryMs?: number,
    onAway?: OnAway,
  ) {
    const { offset, cols, rows } = options;
    this.#queue = new TerminalQueue(offset === undefined ? null : Math.min(offset, Number.MAX_SAFE_INTEGER));
    this.#size = cols === undefined || rows === undefined ? null : { cols, rows };
    this.#lost = this.#broken();
    this.#backoff = new Backoff(() => retryMs ?? transport.retryMs, onAway);
    this.#follow().catch((error: unknown) => this.#finish(error as Error));
  }

  /** Resolves when the first connection is open. Throws why there is none. */
  async attached(): Promise<void> {
    while (!this.#wasAttached && !this.#isOver) await this.#changes.next();
    if (!this.#wasAttached) throw this.#reason();
  }

  /** Bytes that were never sent. */
  get unsentBytes(): number {
    return this.#input.unsentBytes;
  }

  /** An event is acknowledged when the reader asks for the next one. */
  async *events(): AsyncGenerator<TerminalEvent> {
    for (;;) {
      this.#acknowledge();
      const event = this.#queue.take();
      if (event) {
        if (this.#queue.isEmpty) this.#changes.notify();
        yield event;
      } else if (!this.#isOver) await this.#changes.next();
      else if (this.#error === null) return;
      else throw this.#error;
    }
  }

  /** Reads until the shell ends. */
  async toTheEnd(): Promise<TerminalExit> {
    for await (const event of this.events()) if (event.type === 'exit') break;
    if (!this.exit) throw this.#reason();
    return this.exit;
  }

  /** Resolves when the daemon has the bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.options.readOnly) throw new BoxError({ code: 'forbidden', message: `${this.id} is attached read-only` });
    const span = this.#input.add(bytes);
    this.#sendInput();
    while (!this.#input.isAnswered(span)) {
      if (this.#isOver) throw this.#reason();
      await this.#changes.next();
    }
    const doubt = this.#input.doubtOf(span);
    if (doubt > 0) throw inDoubt(doubt);
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    if (this.#isAttached) this.#socket?.send({ type: 'resize', cols, rows });
  }

  /** The next output is a `restore`, which includes what was not read by then. */
  restore(): void {
    this.#queue.restore();
    this.#isRestoring = this.#socket !== null;
    this.#socket?.close();
  }

  /** The reader gets nothing more. */
  detach(): void {
    this.#queue.clear();
    this.#finish(null);
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  #finish(error: Error | null): void {
    if (this.#isOver) return;
    this.#error = error;
    this.#over.abort();
    this.#socket?.close();
    this.#changes.notify();
  }

  /** Why a call has no effect any more. */
  #reason(): Error {
    if (this.#error !== null) return this.#error;
    const [code, what] = this.exit ? (['terminal_ended', 'has ended'] as const) : (['detached', 'was left'] as const);
    return new BoxError({ code, message: `${this.id} ${what}` });
  }

  /** One connection after the other. Throws why there is no further one. */
  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const code = await this.#connect();
      if (this.#isRestoring) continue;
      if (code === tooSlow) await this.#caughtUp();
      else if (!this.#isOver && !(await this.#backoff.wait(this.#lost, 0, this.#over.signal)))
        throw this.#backoff.gaveUp(attachAgain, this.#lost);
    }
  }

  /** Connected at once, a reader that is behind would be sent the same once more. Input does not wait for it. */
  async #caughtUp(): Promise<void> {
    while (!this.#isOver && !this.#queue.isEmpty && !this.#input.isPending) await this.#changes.next();
  }

  /** Runs one connection from start to end, and returns its close code. */
  async #connect(): Promise<number | null> {
    const { transport, id, options } = this;
    const { position } = this.#queue;
    this.#isRestoring = false;
    this.#queue.dropOutput();
    const query = {
      ...{ protocol: 'binary', mode: options.readOnly ? 'ro' : 'rw' },
      durable: false, // A durable client would move the offset at which other clients resume.
      ...(position === null ? { restore: true } : { offset: position }),
      ...this.#size,
    };
    const path = filled(routes['terminals.attach'].replace(/^GET /, ''), { id });
    const socket = new TerminalSocket(transport.socket(path + queryOf(query)), (frame) => this.#take(frame));
    this.#socket = socket;
    const code = await socket.closed;
    this.#socket = null;
    if (!this.#isRestoring && !this.#isOver) await this.#lose();
    this.#isAttached = false;
    return code;
  }

  async #lose(): Promise<void> {
    this.#lost = this.#broken();
    if (!this.#isAttached) return await this.#explain();
    this.#queue.push({ type: 'away' });
    this.#changes.notify();
  }

  /** A WebSocket hides why it does not open, and HTTP tells. Throws what a further attempt would not change. */
  async #explain(): Promise<void> {
    const options = { retryMs: 0, answersAtOnce: true };
    const found = await this.transport.call('terminals.get', { path: { id: this.id } }, options);
    this.#unopened = found.ok ? this.#unopened + 1 : 0;
    if (!found.ok) this.#lost = found.error;
    if (!this.#lost.retryable) throw this.#lost;
    if (this.#wasAttached || this.#unopened < maxUnopened) return;
    throw new BoxError({
      code: 'unreachable',
      message: `no WebSocket opens at ${this.transport.address}, although it answers HTTP`,
      hint: 'A proxy in between may not pass WebSockets on, or the daemon may have no room for one more stream.',
      retryable: true,
    });
  }

  #broken(): BoxError {
    return unreachable(`the connection to ${this.transport.address} broke`);
  }

  #take(frame: Frame): void {
    if (frame instanceof Uint8Array) this.#queue.output(frame);
    else this.#takeMessage(frame);
    this.#changes.notify();
  }

  #takeMessage(frame: Exclude<Frame, Uint8Array>): void {
    switch (frame.type) {
      case 'ready':
        return this.#begin(frame);
      case 'restore_output':
        return this.#queue.push({ type: 'restore', offset: frame.offset, text: frame.data });
      case 'gap':
        return this.#queue.push({ type: 'gap', from: frame.from, to: frame.to });
      case 'title':
        return this.#queue.push({ type: 'title', title: frame.title });
      case 'resize':
        return this.#queue.push({ type: 'resize', cols: frame.cols, rows: frame.rows });
      case 'pong':
        this.#input.confirm(Number(frame.timestamp));
        return this.#sendInput();
      case 'error':
        this.#input.distrust();
        return this.#queue.push({ type: 'error', error: errorOf(frame) });
      case 'exit':
        this.exit = { type: 'exit', exitCode: frame.exit_code, signal: frame.signal };
        this.#queue.push(this.exit);
        return this.#finish(null);
      default: // A message that says nothing new, or one of a newer daemon.
    }
  }

  #begin({ offset, input_offset: taken, cols, rows }: TerminalServerFrameReady): void {
    this.#isAttached = this.#wasAttached = true;
    this.#backoff.reset();
    this.#queue.push({ type: 'attached', cols, rows });
    this.#queue.begin(offset);
    // The first acknowledgement makes the daemon wait for the others, however slow the reader is.
    this.#acknowledged = offset;
    this.#socket?.send({ type: 'ack', offset });
    const doubt = this.#input.resume(taken);
    if (doubt > 0) this.#queue.push({ type: 'error', error: inDoubt(doubt) });
    this.#sendInput();
    // The size may have changed since the connection was asked for.
    if (this.#size && !this.options.readOnly) this.#socket?.send({ type: 'resize', ...this.#size });
  }

  #sendInput(): void {
    if (this.#socket && this.#isAttached) this.#input.sendTo(this.#socket);
    this.#changes.notify();
  }

  #acknowledge(): void {
    const { position, isEmpty } = this.#queue;
    if (!this.#isAttached || position === null || position <= this.#acknowledged) return;
    if (!isEmpty && position - this.#acknowledged < acknowledgeBytes) return;
    this.#acknowledged = position;
    this.#socket?.send({ type: 'ack', offset: position });
  }
}

const attachAgain = 'Attach to the terminal again when the daemon is back; its output is kept.';

function errorOf({ data: message, code, hint, retryable }: TerminalServerFrameError): BoxError {
  return new BoxError({ message, code, hint, retryable });
}

function inDoubt(bytes: number): BoxError {
  return new BoxError({
    code: 'input_in_doubt',
    message: `the connection broke while ${bytes} bytes of input were sent; the terminal may not have got them`,
    hint: 'Look at the screen before the input is typed again.',
    data: { bytes },
  });
}
