/** Asks a client for a sign of life at intervals, and gives up after a long silence. */

export interface HeartbeatCalls {
  ask(): void;
  giveUp(): void;
}

const askEveryMs = 30_000;
/** Two questions and some tolerance; after this silence the client counts as gone. */
const silentMs = 75_000;

export class Heartbeat implements Disposable {
  readonly #asking: ReturnType<typeof setInterval>;
  #heardMs = performance.now();

  constructor(calls: HeartbeatCalls) {
    this.#asking = setInterval(() => {
      if (performance.now() - this.#heardMs > silentMs) calls.giveUp();
      else calls.ask();
    }, askEveryMs);
  }

  /** Called for anything that arrives from the client. */
  heard(): void {
    this.#heardMs = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#asking);
  }
}
