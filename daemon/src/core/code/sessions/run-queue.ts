/** Limits the parallel single runs of one kind. Other runs wait in the order of their arrival. */

export interface QueuedRun {
  /** Length of the code, which stays in memory while the run waits. */
  readonly characters: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const maxWaiting = 256;

export class RunQueue {
  #running = 0;
  readonly #waiting = new Map<() => void, QueuedRun>();

  constructor(private readonly maxRunning: number) {}

  /** Total length of waiting code. */
  get waitingCharacters(): number {
    return [...this.#waiting.values()].reduce((sum, { characters }) => sum + characters, 0);
  }

  /** True when the run may begin; the caller then calls `leave`. False when the signal aborts or the queue is full. */
  async enter(run: QueuedRun): Promise<boolean> {
    if (this.#running < this.maxRunning) {
      this.#running += 1;
      return true;
    }
    if (run.signal.aborted || this.#waiting.size >= maxWaiting) return false;
    return await new Promise((resolve) => {
      const begin = () => {
        run.signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.delete(begin);
        resolve(false);
      };
      run.signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.set(begin, run);
    });
  }

  /** Counts a run of an earlier daemon, even above the limit. */
  add(): void {
    this.#running += 1;
  }

  /** Ends a run. The longest waiting run begins. */
  leave(): void {
    this.#running -= 1;
    if (this.#running >= this.maxRunning) return;
    const [begin] = this.#waiting.keys();
    if (!begin) return;
    this.#waiting.delete(begin);
    this.#running += 1;
    begin();
  }
}
