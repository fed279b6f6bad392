/** One socket to an X server: whole messages in, bytes out, a reason when the socket closes. */
import type { Socket } from 'bun';
import { X11Unreachable } from '../../protocols/x11-errors.ts';
import type { DisplayAddress, DisplayEndpoint } from './address.ts';
import { MessageCutter } from './frames.ts';
import type { Message } from './message.ts';

export interface SocketObserver {
  onMessage(message: Message): void;
  /** Called once, unless the client closes the socket. */
  onClose(reason: string): void;
}

export class DisplaySocket {
  #socket: Socket<undefined> | null = null;
  #unsent: Uint8Array[] = [];
  #hasClosed = false;

  private constructor(private readonly observer: SocketObserver) {}

  /** Tries the endpoints of the display in their order. Throws `X11Unreachable`. */
  static async open(address: DisplayAddress, observer: SocketObserver): Promise<DisplaySocket> {
    let reason = '';
    for (const endpoint of address.endpoints) {
      const socket = new DisplaySocket(observer);
      const failure = await socket.#connect(endpoint);
      if (failure === null) return socket;
      reason ||= failure;
    }
    throw new X11Unreachable(reason);
  }

  write(bytes: Uint8Array): void {
    this.#unsent.push(bytes);
    if (this.#unsent.length === 1) this.#flush();
  }

  close(): void {
    this.#hasClosed = true;
    this.#unsent = [];
    this.#socket?.end();
    this.#socket = null;
  }

  /** Returns the reason for a failure, or null. */
  async #connect(endpoint: DisplayEndpoint): Promise<string | null> {
    const frames = new MessageCutter((message) => this.observer.onMessage(message));
    const handlers = {
      data: (_socket: Socket<undefined>, bytes: Buffer) => this.#receive(frames, bytes),
      drain: () => this.#flush(),
      end: (socket: Socket<undefined>) => {
        socket.end();
      },
      close: () => this.#end('the X server has closed the connection'),
      error: (_socket: Socket<undefined>, error: Error) => this.#end(`the connection broke: ${error.message}`),
    };
    try {
      // The two calls differ only in their type.
      this.#socket =
        'unix' in endpoint
          ? await Bun.connect({ ...endpoint, socket: handlers })
          : await Bun.connect({ ...endpoint, socket: handlers });
      return null;
    } catch (error) {
      const { code = String(error) } = error as { code?: string };
      this.#hasClosed = true;
      return code === 'ENOENT' || code === 'ECONNREFUSED' ? 'no X server listens there' : `connecting failed (${code})`;
    }
  }

  #receive(frames: MessageCutter, bytes: Buffer): void {
    if (this.#hasClosed) return;
    try {
      frames.push(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // After an unreadable message, the place of the next one is unknown.
      const socket = this.#socket;
      this.#end(`the X server sent a message that cannot be read: ${error.message}`);
      socket?.end();
    }
  }

  #end(reason: string): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    this.#socket = null;
    this.#unsent = [];
    this.observer.onClose(reason);
  }

  #flush(): void {
    for (let bytes = this.#unsent[0]; bytes && this.#socket; bytes = this.#unsent[0]) {
      const written = Math.max(0, this.#socket.write(bytes));
      if (written < bytes.length) {
        this.#unsent[0] = bytes.subarray(written);
        return; // The `drain` callback sends the rest.
      }
      this.#unsent.shift();
    }
  }
}
