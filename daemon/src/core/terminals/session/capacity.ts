/** Limits how many shells live at once, and closes unnamed sessions before it refuses a new one. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { Mutex } from '../../../kit/mutex.ts';
import type { Terminal } from './terminal.ts';

export interface TerminalCapacityDeps {
  readonly max: number;
  /** Sessions whose shell lives. */
  readonly living: () => readonly Terminal[];
  readonly close: (id: string) => Promise<void>;
}

/** How long a new session waits for a request that uses an unnamed session. */
const waitMs = 10_000;
const lookEveryMs = 20;

export class TerminalCapacity {
  /** Sessions that are being started. */
  #starting = 0;
  /** Callers are served in the order of their arrival. */
  readonly #queue = new Mutex();

  constructor(private readonly deps: TerminalCapacityDeps) {}

  /**
   * Reserves a slot for one more shell; `mayEvict` closes an idle unnamed session for it. Throws `capacity_reached`,
   * and `HandedOver` when the signal aborts.
   */
  async take(leaving: AbortSignal, mayEvict: boolean): Promise<Disposable> {
    using deadline = new Deadline(waitMs, leaving);
    if (!(await this.#queue.acquire(deadline.signal))) throw this.#refusal(leaving);
    try {
      while (this.#isFull) {
        if (!mayEvict) throw this.#refusal(leaving);
        if (await this.#closeOldest()) continue;
        if (deadline.passed || !this.#mayBecomeIdle) throw this.#refusal(leaving);
        using look = new Deadline(lookEveryMs, deadline.signal);
        await new Promise((resolve) => look.signal.addEventListener('abort', resolve));
      }
      this.#starting++;
      return { [Symbol.dispose]: () => this.#starting-- };
    } finally {
      this.#queue.release();
    }
  }

  get #isFull(): boolean {
    return this.deps.living().length + this.#starting >= this.deps.max;
  }

  /** A request that uses an unnamed session ends soon; a command that runs in one may never end. */
  get #mayBecomeIdle(): boolean {
    return this.#starting > 0 || this.deps.living().some(({ record, users }) => record.isTransient && users > 0);
  }

  /** Closes the unnamed session that was idle for the longest time; false when there is none. */
  async #closeOldest(): Promise<boolean> {
    const idle = this.deps.living().filter(isIdle);
    for (const terminal of idle.toSorted((a, b) => a.record.lastUsedMs - b.record.lastUsedMs)) {
      // A background server counts as work. A request may have started to use the session during the check.
      if ((await terminal.hasProcesses()) || !isIdle(terminal)) continue;
      await this.deps.close(terminal.id);
      return true;
    }
    return false;
  }

  #refusal(leaving: AbortSignal): Error {
    if (leaving.aborted) return new HandedOver();
    const { max } = this.deps;
    return new CoreError('capacity_reached', `there are ${max} terminal sessions, which is the limit`, {
      hint: 'Close a session, or raise SVC_SHELL_MAX_SESSIONS.',
      next: { operation: 'terminals.close' },
    });
  }
}

function isIdle(terminal: Terminal): boolean {
  const { record, users, attached, isTerminated, job } = terminal;
  return record.isTransient === true && users === 0 && attached === 0 && !isTerminated && !job.isRunning;
}
