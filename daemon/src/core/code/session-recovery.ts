/** Finds the sessions of an earlier daemon again, with their interpreters and what these run. */
import type { Child, Recovered } from '../../platform/spawn.ts';
import type { Backends } from './backends.ts';
import { endChild } from './child-interpreter.ts';
import type { Interpreter } from './interpreter.ts';
import { decodeNote, type InterpreterNote } from './note.ts';
import type { CodeSession, RunningCell, SessionRecord } from './session.ts';
import type { SingleRuns } from './single-runs.ts';

/** Kernels have more than their processes: bridges that speak for them, and files. */
export interface KernelRecovery {
  /** Takes over the bridge of an earlier daemon, before any of its kernels. */
  recover(note: InterpreterNote, child: Child): void;
  /** A kernel of an earlier daemon that nobody wants. */
  discard(note: InterpreterNote): void;
  /** All that is wanted was adopted. */
  recovered(): void;
}

export interface SessionRecoveryDeps {
  readonly backends: Backends;
  readonly kernels: KernelRecovery;
  readonly single: SingleRuns;
  readonly notes: { load(id: string): RunningCell | null; remove(id: string): void };
  readonly makeSession: (record: SessionRecord) => CodeSession;
  /** It is one of ours from now on. */
  readonly keep: (session: CodeSession) => void;
  readonly onFault: (what: string, error: unknown) => void;
}

/** Another daemon may still read what a single cell has shown, for a caller that it has. */
const readWithinMs = 5000;

export class SessionRecovery {
  constructor(private readonly deps: SessionRecoveryDeps) {}

  /** Answers what is no interpreter. */
  async run(kept: readonly SessionRecord[], recovered: readonly Recovered[]): Promise<Recovered[]> {
    const records = new Map(kept.map((record) => [record.interpreter ?? record.id, record]));
    const noted = recovered.map((one) => ({ one, note: decodeNote(one.note) }));
    const found: Promise<void>[] = [];
    for (const { one, note } of noted) if (note?.backend === 'bridge') this.deps.kernels.recover(note, one.child);
    for (const { one, note } of noted) {
      if (note === null || note.backend === 'bridge') continue;
      const record = records.get(note.id);
      if (record) found.push(this.#readopt(record, note, one.child));
      else this.#discard(note, one.child);
      records.delete(note.id);
    }
    await Promise.all([...found, ...[...records.values()].map((record) => this.#find(record))]);
    this.deps.kernels.recovered();
    return noted.flatMap(({ one, note }) => (note === null ? [one] : []));
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

  /** A session whose interpreter is nowhere to be found goes on with a new one when it is used. */
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
    // This daemon may have been given other backends than the one before it.
    if (record.interpreter === null || !backends.has(record)) return null;
    return (await backends.of(record).reconnect?.(record.interpreter, record, running)) ?? null;
  }

  #resume(session: CodeSession, interpreter: Interpreter, running: RunningCell | null): void {
    session.resume(interpreter, running);
    if (session.record.isSingle) void this.deps.single.closeBehind(session, session.last, readWithinMs);
  }

  #discard(note: InterpreterNote, child: Child): void {
    this.deps.kernels.discard(note);
    endChild(child).catch((error: unknown) => this.deps.onFault('an interpreter could not be ended', error));
  }
}
