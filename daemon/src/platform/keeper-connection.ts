/** One connection to a keeper over a unix socket: whole frames out, whole frames in. */
import type { Socket } from 'bun';
import { FrameReader } from './keeper-protocol.ts';

export interface KeeperEvents {
  onFrame(type: number, payload: Buffer): void;
  /** The keeper has gone, or has dropped us because we did not read. */
  onClose(): void;
}

export class KeeperConnection {
  #socket: Socket<undefined> | null = null;
  #unsent: Buffer[] = [];
  #events: KeeperEvents | null = null;
  #hasClosed = false;

  private constructor() {}

  /** Rejects with the system's error when nobody listens there. */
  static async open(path: string): Promise<KeeperConnection> {
    const connection = new KeeperConnection();
    const frames = new FrameReader((type, payload) => connection.#events?.onFrame(type, payload));
    const close = () => {
      if (connection.#hasClosed) return;
      connection.#hasClosed = true;
      connection.#socket = null;
      connection.#unsent = [];
      connection.#events?.onClose();
    };
    connection.#socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_socket, bytes) => frames.push(bytes),
        drain: () => connection.#flush(),
        end: (socket) => {
          socket.end();
        },
        close,
        error: close,
      },
    });
    return connection;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /** Who is told from now on; called before the event loop goes on, so that nothing is missed. */
  tell(events: KeeperEvents): void {
    this.#events = events;
  }

  send(frame: Buffer): void {
    this.#unsent.push(frame);
    if (this.#unsent.length === 1) this.#flush();
  }

  /** `onClose` is not called for it. */
  close(): void {
    this.#hasClosed = true;
    this.#socket?.end();
    this.#socket = null;
  }

  #flush(): void {
    for (let frame = this.#unsent[0]; frame && this.#socket; frame = this.#unsent[0]) {
      const written = Math.max(0, this.#socket.write(frame));
      if (written < frame.length) {
        this.#unsent[0] = frame.subarray(written);
        return; // `drain` goes on.
      }
      this.#unsent.shift();
    }
  }
}
