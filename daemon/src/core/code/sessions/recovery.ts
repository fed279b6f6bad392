/** Recovers the sessions of an earlier daemon, with their interpreters and running cells. */
import type { Child, Recovered } from '../../../platform/process/spawn.ts';
import { terminateLater } from '../../processes/terminate.ts';
import type { Backends } from '../backends/backends.ts';
import type { Interpreter } from '../backends/interpreter.ts';
import type { KernelBackend } from '../backends/kernel.ts';
import { readNote, type InterpreterNote } from '../backends/note.ts';
import type { CodeSession } from './session.ts';
import type { RunningCell, SessionRecord } from './record.ts';
import type { SingleRuns } from './single-runs.ts';

export interface SessionRecoveryDeps {
  readonly backends: Backends;
  /** Kernels need recovery beyond their processes: they also have bridges and files. */
  readonly kernels: KernelBackend;
  readonly single: SingleRuns;
  readonly notes: { load(id: string): RunningCell | null; remove(id: string): void };
  readonly makeSession: (record: SessionRecord) => CodeSession;
  /** Adds a recovered session to the sessions of this daemon. */
  readonly keep: (session: CodeSession) => void;
  readonly onFault: (what: string, error: unknown) => void;
}

/** The earlier daemon may still have a caller that reads the outputs of a single run. */
const readWithinMs = 5000;

export class SessionRecovery {
  constructor(private readonly deps: SessionRecoveryDeps) {}

  async run(kept: readonly SessionRecord[], recovered: readonly Recovered[]): Promise<void> {
    const records = new Map(kept.map((record) => [record.interpreter ?? record.id, record]));
    const noted = recovered.map(({ child, note }) => ({ child, note: readNote(note) }));
    const found: Promise<void>[] = [];
    for (const { child, note } of noted) if (note.backend === 'bridge') this.deps.kernels.recover(note, child);
    for (const { child, note } of noted) {
      if (note.backend === 'bridge') continue;
      const record = records.get(note.id);
      if (record) found.push(this.#readopt(record, note, child));
      else this.#discard(note, child);
      records.delete(note.id);
    }
    await Promise.all([...found, ...[...records.values()].map((record) => this.#find(record))]);
    this.deps.kernels.recovered();
  }

  async #readopt(record: SessionRecord, note: InterpreterNote, child: Child): Promise<void> {
    const session = this.deps.makeSession(record);
    this.deps.keep(session);
    const running = this.deps.notes.load(record.id);
    const interpreter = await this.deps.backends.of(record).adopt(note, child, running);
    if (interpreter) {
      this.#resume(session, interpreter, running);
      return;
    }
    if (record.isSingle) await this.deps.single.forget(session);
    session.lose(child.end);
    this.#discard(note, child);
  }

  /** Keeps a session whose interpreter cannot be found. The session gets a new interpreter at its next use. */
  async #find(record: SessionRecord): Promise<void> {
    const session = this.deps.makeSession(record);
    const running = this.deps.notes.load(record.id);
    const interpreter = await this.#reconnect(record, running);
    if (interpreter) {
      this.deps.keep(session);
      this.#resume(session, interpreter, running);
      return;
    }
    this.deps.notes.remove(record.id);
    if (record.isSingle) {
      await this.deps.single.removeDirectory(record);
      return;
    }
    this.deps.keep(session);
    if (record.interpreter !== null) session.lose(null);
  }

  async #reconnect(record: SessionRecord, running: RunningCell | null): Promise<Interpreter | null> {
    const { backends } = this.deps;
    // This daemon may be configured with other backends than the earlier daemon.
    if (record.interpreter === null || !backends.has(record)) return null;
    return (await backends.of(record).reconnect?.(record.interpreter, record, running)) ?? null;
  }

  #resume(session: CodeSession, interpreter: Interpreter, running: RunningCell | null): void {
    session.resume(interpreter, running);
    if (session.record.isSingle) void this.deps.single.closeBehind(session, session.last, readWithinMs);
  }

  #discard(note: InterpreterNote, child: Child): void {
    this.deps.kernels.discard(note);
    terminateLater(child, (error) => this.deps.onFault('an interpreter could not be ended', error));
  }
}
