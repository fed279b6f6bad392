/** A shell at a terminal behind a WebSocket, independent of the frame format. */

export interface TerminalProtocol {
  /** Returns the address of a new shell that ignores the account's settings. */
  newShell(): Promise<string>;
  readonly protocols: readonly string[];
  /** The first message. Null sends none. */
  readonly hello: string | null;
  input(text: string): string | Uint8Array<ArrayBuffer>;
  /** Returns null for a frame without output. */
  outputOf(frame: Uint8Array): Uint8Array | null;
}

export interface TerminalServer extends AsyncDisposable {
  readonly name: string;
  readonly terminal: TerminalProtocol;
  /** The processes that serve all terminals. */
  readonly pids: readonly number[];
}

/** How much of the output's end is searched for the awaited text, because a prompt may follow the text. */
const endBytes = 512;

export class OpenTerminal implements Disposable {
  /** Called with each piece of output. */
  onOutput: (piece: Uint8Array) => void = () => undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly protocol: TerminalProtocol,
  ) {
    socket.onmessage = ({ data }) => {
      const piece = typeof data === 'string' ? null : protocol.outputOf(data as Uint8Array);
      if (piece) this.onOutput(piece);
    };
  }

  static async open(protocol: TerminalProtocol): Promise<OpenTerminal> {
    const socket = new WebSocket(await protocol.newShell(), [...protocol.protocols]);
    socket.binaryType = 'nodebuffer';
    const terminal = new OpenTerminal(socket, protocol);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    if (protocol.hello !== null) socket.send(protocol.hello);
    return terminal;
  }

  type(text: string): void {
    this.socket.send(this.protocol.input(text));
  }

  /** Resolves at the first output, when the shell has begun. */
  begins(): Promise<void> {
    return new Promise((resolve) => (this.onOutput = () => resolve()));
  }

  /** Types, and resolves when the text is shown. Returns the number of bytes shown. */
  shows(text: string, typed: string): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    let bytes = 0;
    let tail = '';
    this.onOutput = (piece) => {
      bytes += piece.length;
      tail = (tail + Buffer.from(piece.subarray(-endBytes)).toString('latin1')).slice(-endBytes);
      if (tail.includes(text)) resolve(bytes);
    };
    this.type(typed);
    return promise;
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}
