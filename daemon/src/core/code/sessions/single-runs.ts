/** Runs single cells, each in its own interpreter, and programs also in their own temporary directory. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import type { Cell } from '../cells/cell.ts';
import { tooManyRuns } from './capacity.ts';
import { poolKindOf, type PoolKind } from '../language.ts';
import { RunQueue } from './run-queue.ts';
import type { CodeSession } from './session.ts';
import type { SessionRecord } from './record.ts';

/** Temporary directories for programs. */
export interface Scratch {
  /** Throws a `FileFailure`, as does `fill`. */
  make(user: string | null): Promise<string>;
  /** Throws `bad_argument` for a name that leads out of the directory. */
  fill(directory: string, files: Readonly<Record<string, string>>, user: string | null): Promise<void>;
  remove(directory: string): Promise<void>;
}

export interface SingleRunsDeps {
  /** Maximum number of parallel runs for each kind. */
  readonly limits: Readonly<Record<PoolKind, { readonly max: number }>>;
  readonly scratch: Scratch;
  readonly ownership: Ownership;
  readonly onFault: (what: string, error: unknown) => void;
}

export interface SingleRun {
  readonly characters: number;
  /** Maximum time in the queue. */
  readonly withinMs: number;
  readonly hasDirectory: boolean;
  /** Ends the wait in the queue. */
  readonly closing: AbortSignal;
}

export class SingleRuns {
  readonly #sessions = new Set<CodeSession>();
  readonly #removing = new Set<Promise<void>>();
  readonly #queues: Readonly<Record<PoolKind, RunQueue>>;

  constructor(private readonly deps: SingleRunsDeps) {
    const { kernel, repl } = deps.limits;
    this.#queues = { kernel: new RunQueue(kernel.max), repl: new RunQueue(repl.max) };
  }

  get waitingCharacters(): number {
    return this.#queues.kernel.waitingCharacters + this.#queues.repl.waitingCharacters;
  }

  get all(): readonly CodeSession[] {
    return [...this.#sessions];
  }

  /** Takes over a run of an earlier daemon. */
  add(session: CodeSession): void {
    this.#sessions.add(session);
    this.#queueOf(session).add();
  }

  /** Waits for its turn, then makes the directory and starts the interpreter. Also throws `capacity_reached`. */
  async open(session: CodeSession, run: SingleRun): Promise<void> {
    await this.#turn(session, run);
    this.#sessions.add(session);
    try {
      if (run.hasDirectory) session.record.scratch = await this.deps.scratch.make(session.record.user);
      await session.open();
    } catch (error) {
      await this.forget(session);
      throw error;
    }
  }

  /** Closes the interpreter after its cell, because no other cell can use it. */
  async closeBehind(session: CodeSession, cell: Cell | null, lingerMs = 0): Promise<void> {
    while (cell && !cell.isOver) await cell.changed();
    if (lingerMs > 0) await new Promise((resolve) => setTimeout(resolve, lingerMs).unref());
    try {
      await session.close();
    } catch (error) {
      if (!(error instanceof HandedOver)) this.deps.onFault('an interpreter could not be ended', error);
    }
    await this.forget(session);
  }

  async forget(session: CodeSession): Promise<void> {
    if (!this.#sessions.delete(session)) return;
    this.#queueOf(session).leave();
    await this.removeDirectory(session.record);
  }

  async removeDirectory({ scratch }: SessionRecord): Promise<void> {
    if (scratch === undefined || !this.deps.ownership.isOwned) return;
    const removing = this.deps.scratch
      .remove(scratch)
      .catch((error: unknown) => this.deps.onFault(`${scratch} could not be removed`, error))
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    await removing;
  }

  async #turn(session: CodeSession, { characters, closing, withinMs }: SingleRun): Promise<void> {
    const { ownership } = this.deps;
    using deadline = new Deadline(withinMs, closing, ownership.leaving);
    if (await this.#queueOf(session).enter({ characters, signal: deadline.signal })) return;
    ownership.assertOwned(); // The other daemon queues the run again.
    if (closing.aborted) throw new CoreError('unavailable', 'the daemon is closing; the code did not run');
    const kind = kindOf(session);
    throw tooManyRuns(kind, this.deps.limits[kind].max);
  }

  #queueOf(session: CodeSession): RunQueue {
    return this.#queues[kindOf(session)];
  }

  /** Ends the runs that have a directory. Resolves when all directories are removed. */
  async settle(): Promise<void> {
    if (!this.deps.ownership.isOwned) return;
    const programs = this.all.filter(({ record }) => record.scratch !== undefined);
    await Promise.all(programs.map((session) => session.close()));
    await Promise.all(programs.map((session) => this.forget(session)));
    await Promise.all(this.#removing);
  }
}

function kindOf({ record }: CodeSession): PoolKind {
  return poolKindOf(record.backend);
}
