/** The commands of all sessions. */
import type { ScriptDirectory } from '../../platform/script-directory.ts';
import { ExecLife } from './exec-life.ts';
import { ExecQueue, type ExecQueueDeps, type ExecSpec } from './exec-queue.ts';
import type { ExecAnswer } from './exec-record.ts';
import { Job } from './job.ts';
import { assertLinux } from './linux-only.ts';
import type { Terminal } from './terminal.ts';

export interface ExecutionsDeps extends ExecQueueDeps {
  readonly platform: NodeJS.Platform;
  readonly scripts: Pick<ScriptDirectory, 'place' | 'write' | 'remove' | 'recover' | 'close'>;
}

export class Executions {
  readonly #queues = new WeakMap<Terminal, ExecQueue>();
  readonly #life = new ExecLife();

  constructor(private readonly deps: ExecutionsDeps) {}

  /** Throws `not_implemented`, and what the queue of the session throws. */
  async exec(terminal: Terminal, spec: ExecSpec, signal: AbortSignal): Promise<ExecAnswer> {
    assertLinux(this.deps.platform, 'exec');
    return await this.#queueOf(terminal).exec(spec, signal);
  }

  /** The same, with what the command prints as it comes. */
  async *stream(terminal: Terminal, spec: ExecSpec, signal: AbortSignal): AsyncGenerator<string, ExecAnswer> {
    assertLinux(this.deps.platform, 'exec');
    return yield* this.#queueOf(terminal).stream(spec, signal);
  }

  /** Resolves when the shell of a session that was just made has its prompt, or seems to have none. */
  async ready(terminal: Terminal, signal: AbortSignal): Promise<void> {
    await this.#queueOf(terminal).ready(signal);
  }

  /** What runs in a session. */
  jobOf(terminal: Terminal): Job {
    return new Job(terminal, this.#queueOf(terminal), this.#life);
  }

  /** Takes over what an earlier daemon left. */
  recover(): void {
    this.deps.scripts.recover();
  }

  /** Goes on with what ran in a session when an earlier daemon had it. */
  resume(terminal: Terminal): void {
    this.#queueOf(terminal).resume();
  }

  /** Nothing begins here any more: who waits for a turn throws `HandedOver`. What runs is another daemon's. */
  handOver(): Promise<void> {
    return this.#life.leave();
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#life.stay();
  }

  /** Nobody waits any more; what runs is left to the next daemon, with its scripts where there is one. */
  close(isHandedOver: boolean): void {
    this.#life.end();
    if (!isHandedOver) this.deps.scripts.close();
  }

  #queueOf(terminal: Terminal): ExecQueue {
    const existing = this.#queues.get(terminal);
    if (existing) return existing;
    const queue = new ExecQueue(terminal, this.deps, this.#life);
    this.#queues.set(terminal, queue);
    return queue;
  }
}
