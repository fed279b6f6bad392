/** Asks the other side of a connection now and then whether it is there, and gives up when it is silent. */

export interface HeartbeatCalls {
  ask(): void;
  giveUp(): void;
}

const askEveryMs = 30_000;
/** Two questions, and a moment: whoever is silent so long has gone. */
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

  /** Anything has come from them. */
  heard(): void {
    this.#heardMs = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#asking);
  }
}
