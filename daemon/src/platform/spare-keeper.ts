/** A keeper that is there before its command is: making one takes a seventh of what a short command takes. */
import { KeeperConnection } from './keeper-connection.ts';

const none = Promise.resolve(null);

export class SpareKeeper implements Disposable {
  #spare: Promise<KeeperConnection | null> = none;
  #isClosed = false;

  constructor(private readonly socketPath: string) {}

  /** Has the next keeper made; resolves when it is there, or when init has refused it. */
  async renew(): Promise<void> {
    if (this.#isClosed || this.#spare !== none) return;
    // Refused means a machine that is full; the command that wants one asks again, and is told.
    this.#spare = this.#open().catch(() => null);
    await this.#spare;
  }

  /** Rejects with the system's error when init does not make one. */
  async take(): Promise<KeeperConnection> {
    const waiting = this.#spare;
    this.#spare = none; // Before anything is awaited: nobody else is to be given the same one.
    const spare = await waiting;
    return spare?.isOpen ? spare : this.#open();
  }

  /** Lets the one that waits go. */
  drop(): void {
    void this.#spare.then((spare) => spare?.close());
    this.#spare = none;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.drop();
  }

  #open(): Promise<KeeperConnection> {
    return KeeperConnection.open(this.socketPath);
  }
}
