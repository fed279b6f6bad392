/** One connection to a keeper over a Unix socket: sends and receives whole frames. */
import { closeSync } from 'node:fs';
import type { Socket } from 'bun';
import { errnoOf } from '../../kit/errno.ts';
import { takeDescriptor } from './descriptor-reserve.ts';
import { FrameReader } from './keeper-protocol.ts';

export interface KeeperEvents {
  onFrame(type: number, payload: Buffer): void;
  /** The keeper has exited, or has dropped this connection because the daemon did not read. */
  onClose(): void;
}

const maxAttempts = 3;

export class KeeperConnection {
  #socket: Socket<undefined> | null = null;
  #unsent: Buffer[] = [];
  #events: KeeperEvents | null = null;
  #hasClosed = false;
  /** The other side has closed the connection. */
  #hasEnded = false;

  private constructor() {}

  /** Rejects with the system's error when no process listens there, or when this process has no descriptor left. */
  static async open(path: string): Promise<KeeperConnection> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await KeeperConnection.#connect(path);
      } catch (error) {
        // The keeper has accepted the connection, and another one right after it.
        if (errnoOf(error) === 'ECONNRESET' && attempt < maxAttempts) continue;
        // The runtime reports a refused connection also when it had no descriptor for one.
        closeSync(takeDescriptor());
        throw error;
      }
    }
  }

  static async #connect(path: string): Promise<KeeperConnection> {
    const connection = new KeeperConnection();
    const frames = new FrameReader((type, payload) => connection.#events?.onFrame(type, payload));
    const close = () => {
      if (connection.#hasClosed) return;
      connection.#hasClosed = connection.#hasEnded = true;
      connection.#socket = null;
      connection.#unsent = [];
      connection.#events?.onClose();
    };
    const socket = await Bun.connect({
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
    if (!connection.#hasEnded) connection.#socket = socket;
    return connection;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /**
   * Sets the receiver of events. The caller calls it before the event loop continues, so that no frame is missed. The
   * end of a keeper that died at once is reported too, after the caller has continued.
   */
  tell(events: KeeperEvents): void {
    this.#events = events;
    if (this.#hasEnded) queueMicrotask(() => events.onClose());
  }

  send(frame: Buffer): void {
    this.#unsent.push(frame);
    if (this.#unsent.length === 1) this.#flush();
  }

  /** Closes the connection without a call of `onClose`. */
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
        return; // The `drain` callback sends the rest.
      }
      this.#unsent.shift();
    }
  }
}
