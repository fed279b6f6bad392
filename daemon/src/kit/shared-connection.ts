/** One connection for all calls: opened by the first one, and closed when no call has needed it for a while. */

export interface Connection {
  readonly isOpen: boolean;
  close(): void;
}

export interface SharedConnectionDeps<C> {
  /** Has a deadline of its own, because several callers may wait for the connection. */
  open(): Promise<C>;
  /** Milliseconds without a call after which the connection is closed. */
  readonly idleMs: number;
  /** True while the connection is needed without a call. */
  readonly isBusy?: () => boolean;
}

export class SharedConnection<C extends Connection> implements Disposable {
  #connecting: Promise<C> | null = null;
  #connected: C | null = null;
  #calls = 0;
  #idle: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly deps: SharedConnectionDeps<C>) {}

  /** The connection that was opened last, open or not; null before the first. */
  get latest(): C | null {
    return this.#connected;
  }

  /** Keeps the connection open until the last call has ended and the idle time has passed. */
  begin(): Disposable {
    this.#calls += 1;
    if (this.#idle) clearTimeout(this.#idle);
    return {
      [Symbol.dispose]: () => {
        this.#calls -= 1;
        if (this.#calls > 0) return;
        this.#awaitIdle();
      },
    };
  }

  /** Call within `begin`. A peer that has restarted is connected to again. */
  async connect(): Promise<C> {
    if (this.#connected?.isOpen) return this.#connected;
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return await this.#connecting;
  }

  [Symbol.dispose](): void {
    if (this.#idle) clearTimeout(this.#idle);
    this.#connected?.close();
  }

  #awaitIdle(): void {
    this.#idle = setTimeout(() => {
      if (this.deps.isBusy?.()) this.#awaitIdle();
      else this.#connected?.close();
    }, this.deps.idleMs);
    this.#idle.unref(); // An idle connection does not keep the process alive.
  }

  async #open(): Promise<C> {
    return (this.#connected = await this.deps.open());
  }
}
