/** Starts a keeper before its command, because starting one takes a seventh of a short command's time. */
import { KeeperConnection } from './keeper-connection.ts';

const none = Promise.resolve(null);

export class SpareKeeper implements Disposable {
  #spare: Promise<KeeperConnection | null> = none;
  #isClosed = false;

  constructor(private readonly socketPath: string) {}

  /** Requests the next keeper. Resolves when the keeper is ready, or when init has refused. */
  async renew(): Promise<void> {
    if (this.#isClosed || this.#spare !== none) return;
    // A refusal means that the machine is out of resources. The next command asks again and gets the error.
    this.#spare = this.#open().catch(() => null);
    await this.#spare;
  }

  /** Rejects with the system's error when init does not start a keeper. */
  async take(): Promise<KeeperConnection> {
    const waiting = this.#spare;
    this.#spare = none; // Reset before the await, so that no other command gets the same keeper.
    const spare = await waiting;
    return spare?.isOpen ? spare : this.#open();
  }

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
