/** One connection to a terminal: its frames in order, closed when the daemon falls silent. */
import type { SocketLike } from '../transport.ts';
import type { TerminalClientFrame, TerminalServerFrame } from '../wire.ts';

/** Output of the terminal, or a message about it. */
export type Frame = Uint8Array | TerminalServerFrame;

const openWithinMs = 15_000;
/** The daemon sends something at least every 30 s, so a longer silence means a dead connection. */
const silenceMs = 45_000;
/** A live connection answers typed input at once. */
const answerWithinMs = 15_000;
const normalClosure = 1000;

export class TerminalSocket {
  /** The close code of the daemon; null when the connection broke, or was ended here. */
  readonly closed: Promise<number | null>;
  #isOpened = false;
  #isClosed = false;
  #end!: (code: number | null) => void;
  #silence: ReturnType<typeof setTimeout>;
  #unanswered: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly socket: SocketLike,
    onFrame: (frame: Frame) => void,
  ) {
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#silence = this.#breakAfter(openWithinMs);
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => {
      this.#isOpened = true;
      this.#listen();
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#isClosed) return;
      this.#listen();
      const frame = this.#read(data);
      if (frame !== null) onFrame(frame);
    });
    socket.addEventListener('close', ({ code }) => this.#over(this.#isOpened ? code : null));
    // An error is followed by a close, except in runtimes that report a refused connection by an error alone.
    socket.addEventListener('error', () => this.#over(null));
  }

  get isOpened(): boolean {
    return this.#isOpened;
  }

  get isOpen(): boolean {
    return this.#isOpened && !this.#isClosed;
  }

  send(message: Uint8Array<ArrayBuffer> | TerminalClientFrame): void {
    if (this.isOpen) this.socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  ask(position: number): void {
    this.#unanswered ??= this.#breakAfter(answerWithinMs);
    this.send({ type: 'ping', timestamp: position });
  }

  close(): void {
    this.#over(null);
    this.socket.close(normalClosure);
  }

  /** Null for a frame that is answered here. */
  #read(data: unknown): Frame | null {
    if (typeof data !== 'string') return new Uint8Array(data as ArrayBuffer);
    const frame = parsed(data);
    // What answers here does not speak the protocol, as every further attempt will find too.
    if (frame === null) this.close();
    if (frame?.type === 'pong') {
      clearTimeout(this.#unanswered);
      this.#unanswered = undefined;
    }
    if (frame?.type !== 'ping') return frame;
    this.send({ type: 'pong' });
    return null;
  }

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = this.#breakAfter(silenceMs);
  }

  #breakAfter(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.#over(null);
      // A handshake of closing would wait for the dead connection where the runtime can end it at once.
      if (this.socket.terminate) this.socket.terminate();
      else this.socket.close(normalClosure);
    }, ms);
  }

  #over(code: number | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#unanswered);
    this.#end(code);
  }
}

function parsed(text: string): TerminalServerFrame | null {
  try {
    return JSON.parse(text) as TerminalServerFrame;
  } catch {
    return null; // The caller closes the connection.
  }
}
