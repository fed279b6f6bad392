/** Holds keepers that have no command: one started ahead, and those whose commands have ended. */
import { KeeperConnection } from './keeper-connection.ts';

/** Enough for a burst of commands. A keeper without a command holds some forty KiB. */
const maxIdle = 16;
/** After this time without a new command, only one idle keeper stays. */
const idleMs = 5000;

export class SpareKeepers implements Disposable {
  /** The keeper used last is at the end, and is used first. */
  #idle: KeeperConnection[] = [];
  /** A keeper that is being started and belongs to no command yet. */
  #starting: Promise<KeeperConnection | null> | null = null;
  #trim: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;
  /** Until then no keeper is kept, because descriptors or processes are scarce; on the clock of `performance`. */
  #scarceUntilMs = 0;

  constructor(private readonly socketPath: string) {}

  /** Starts a keeper when none is idle. Resolves when the keeper is ready, or when init has refused. */
  async renew(): Promise<void> {
    if (this.#isClosed || this.#idle.length > 0 || this.#starting) return;
    // A refusal means that the machine is out of resources. The next command asks again and gets the error.
    const starting = this.#open().catch(() => null);
    this.#starting = starting;
    const connection = await starting;
    if (this.#starting !== starting) return; // A command has taken it meanwhile.
    this.#starting = null;
    if (connection) this.add(connection);
  }

  /**
   * Rejects with the system's error when init does not start a keeper.
   * `isFresh` asks for a keeper that has held no command.
   */
  async take(isFresh = false): Promise<KeeperConnection> {
    if (isFresh) return await this.#open();
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isOpen) return idle;
    const starting = this.#starting;
    this.#starting = null; // Reset before the await, so that no other command gets the same keeper.
    const started = await starting;
    return started?.isOpen ? started : await this.#open();
  }

  /** Takes back a keeper whose command has ended. */
  add(connection: KeeperConnection): void {
    const isScarce = performance.now() < this.#scarceUntilMs;
    if (this.#isClosed || isScarce || this.#idle.length >= maxIdle || !connection.isOpen) {
      connection.close();
      return;
    }
    connection.tell({ onFrame: () => undefined, onClose: () => this.#remove(connection) });
    this.#idle.push(connection);
    if (this.#idle.length > 1) this.#trimLater();
  }

  /** For a start that has failed: gives others the descriptors and processes of idle keepers, for a while. */
  makeRoom(): void {
    this.#scarceUntilMs = performance.now() + idleMs;
    this.drop();
  }

  /** Lets every idle keeper exit. */
  drop(): void {
    void this.#starting?.then((connection) => connection?.close());
    this.#starting = null;
    this.#closeAllBut(0);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.drop();
  }

  #remove(connection: KeeperConnection): void {
    this.#idle = this.#idle.filter((idle) => idle !== connection);
  }

  /** A timer that runs already is not replaced: it looks again as long as commands come. */
  #trimLater(): void {
    this.#trim ??= setTimeout(() => {
      this.#trim = null;
      this.#closeAllBut(1);
    }, idleMs);
    this.#trim.unref();
  }

  /** The keepers used longest ago exit first. */
  #closeAllBut(kept: number): void {
    for (const idle of this.#idle.splice(0, Math.max(0, this.#idle.length - kept))) idle.close();
    if (this.#trim) clearTimeout(this.#trim);
    this.#trim = null;
  }

  #open(): Promise<KeeperConnection> {
    return KeeperConnection.open(this.socketPath);
  }
}
