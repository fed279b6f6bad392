/** The socket of a terminal: reconnects after a break, and delivers output once, in order, at drawing speed. */
import { Refusal, type DaemonClient } from './daemon.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** The display of a terminal. */
export interface Display {
  /** Calls `onShown` when the data is drawn. */
  write(data: string | Uint8Array, onShown: () => void): void;
  /** Clears the display, because all content is sent again. */
  restart(): void;
  resized(size: Size): void;
  titled(title: string): void;
  showState(state: string): void;
}

/** The messages of docs/protocols/terminal.md that the page uses. */
type Message =
  | ({ readonly type: 'ready'; readonly offset: number } & Size)
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'restore_output'; readonly data: string }
  | { readonly type: 'gap'; readonly to: number }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'error'; readonly data: string }
  | { readonly type: 'exit'; readonly exit_code: number | null; readonly signal: string | null }
  | { readonly type: 'ping'; readonly timestamp: number };

const endedCode = 4000;
const firstRetryMs = 250;
const maxRetryMs = 5000;

export class TerminalConnection {
  #socket: WebSocket | null = null;
  /** The offset of the next output. Null until the screen has been restored once. */
  #offset: number | null = null;
  #retryMs = firstRetryMs;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(
    private readonly daemon: DaemonClient,
    private readonly id: string,
    private size: Size,
    private readonly display: Display,
  ) {}

  /** The first connection restores the current screen. Later connections resume at the last offset. */
  open(): void {
    const from = this.#offset === null ? { restore: 'true' } : { offset: String(this.#offset) };
    const socket = this.daemon.attach(this.id, {
      ...from,
      durable: 'false', // A durable socket would advance the position at which the terminal's other clients resume.
      cols: String(this.size.cols),
      rows: String(this.size.rows),
    });
    this.#socket = socket;
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#socket !== socket) return;
      if (typeof data === 'string') this.#read(JSON.parse(data) as Message);
      else this.#output(new Uint8Array(data));
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket && code !== endedCode) this.#later();
    });
  }

  type(bytes: Uint8Array): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(new Uint8Array(bytes));
  }

  /** Requests a new size. The daemon's confirmation changes the display. */
  resize(size: Size): void {
    if (size.cols === this.size.cols && size.rows === this.size.rows) return;
    this.size = size;
    this.display.resized(size);
    this.#say({ type: 'resize', ...size });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry ?? undefined);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }

  #read(message: Message): void {
    switch (message.type) {
      case 'ready':
        this.#retryMs = firstRetryMs;
        this.#offset = message.offset;
        this.display.showState('attached');
        this.display.resized(message);
        break;
      case 'restore_output':
        this.display.restart();
        this.display.write(message.data, () => {});
        break;
      case 'resize':
        this.display.resized(message);
        break;
      case 'gap':
        this.display.write(`\r\n[${message.to - (this.#offset ?? 0)} bytes of output are gone]\r\n`, () => {});
        this.#offset = message.to;
        break;
      case 'title':
        this.display.titled(message.title);
        break;
      case 'error':
        this.display.showState(message.data);
        break;
      case 'exit':
        this.display.showState(
          message.signal ? `ended by ${message.signal}` : `ended with ${message.exit_code ?? 'no code'}`,
        );
        break;
      case 'ping':
        this.#say({ type: 'pong', timestamp: message.timestamp });
        break;
    }
  }

  /** Acknowledges output when it is drawn, so that the daemon sends at most a megabyte ahead. */
  #output(bytes: Uint8Array): void {
    const socket = this.#socket;
    const offset = (this.#offset ?? 0) + bytes.length;
    this.#offset = offset;
    this.display.write(bytes, () => {
      if (this.#socket === socket) this.#say({ type: 'ack', offset });
    });
  }

  #say(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #later(): void {
    this.#socket = null;
    if (this.#isClosed) return;
    this.display.showState('not connected; trying again');
    this.#retry = setTimeout(() => void this.#again(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, maxRetryMs);
  }

  async #again(): Promise<void> {
    try {
      await this.daemon.terminal(this.id);
    } catch (error) {
      if (this.#isClosed) return;
      // The daemon has answered, and a repeated request would get the same answer.
      if (error instanceof Refusal && error.status < 500) this.display.showState(error.message);
      else this.#later();
      return;
    }
    if (!this.#isClosed) this.open();
  }
}
