/** The interpreter of one code session: started when a cell needs one, and replaced after its end. */
import { CoreError } from '../../../kit/errors.ts';
import type { Interpreter } from '../backends/interpreter.ts';
import { exited, type CellRecord, type InterpreterDeath } from '../cells/cell.ts';
import { deathOf, endInOrder, letEnd, untilEnded } from '../cells/end.ts';
import type { CellEvent } from '../cells/events.ts';
import type { SessionRecord } from './record.ts';

export interface SessionInterpreterDeps {
  /** Starts an interpreter for the record. Throws `unavailable`. */
  readonly start: (record: SessionRecord) => Promise<Interpreter>;
  /** Whether a process was killed but its end has not been reported yet. */
  readonly isDying: (pid: number) => boolean;
  /** Called when the record changes. `isUrgent` means that the change must survive a crash of the daemon. */
  readonly onChange: (isUrgent: boolean) => void;
}

type StartPlace = Pick<SessionRecord, 'cwd' | 'env'>;

export class SessionInterpreter {
  /** null before the first start, and after an end that was noticed. */
  current: Interpreter | null = null;
  /** The death of the last interpreter, until a cell reports the death. */
  death: InterpreterDeath | null = null;
  /** True when the session was deleted. */
  isClosed = false;
  #starting: Promise<Interpreter> | null = null;
  /** State of a new interpreter until its first cell. Null when it may differ from the record. */
  #place: StartPlace | null = null;
  /** The interpreter that has the media types of its cells. */
  #formatted: Interpreter | null = null;

  constructor(
    private readonly record: SessionRecord,
    private readonly deps: SessionInterpreterDeps,
    private readonly onCell: (cell: string, event: CellEvent) => void,
  ) {}

  get isStarting(): boolean {
    return this.#starting !== null;
  }

  adopt(interpreter: Interpreter): void {
    this.current = interpreter;
    this.record.interpreter = interpreter.id;
    this.deps.onChange(true);
    interpreter.listen(this.onCell);
  }

  /** Returns the living interpreter, or starts a new one. */
  async living(): Promise<Interpreter> {
    const last = this.current;
    const pid = last?.pid ?? 0;
    if (last && pid > 0 && this.deps.isDying(pid)) await untilEnded(last);
    if (last && !last.end && !last.isLeaving) return last;
    if (last) {
      // An interpreter whose own code asked it to exit has ended or is about to end.
      this.death = last.end && !last.isLeaving ? deathOf(last.end) : exited;
      this.current = null;
      this.record.executionCount = 0;
      await (last.end ? last.close() : endInOrder(last, false));
    }
    this.#starting ??= this.#start();
    try {
      const interpreter = await this.#starting;
      if (this.isClosed) {
        await interpreter.close();
        throw closedSession(this.record.id);
      }
      this.adopt(interpreter);
      return interpreter;
    } finally {
      this.#starting = null;
    }
  }

  /** Starts a new interpreter in the cell's directory, because the session's directory may no longer exist. */
  async livingFor({ cwd, env }: CellRecord): Promise<Interpreter> {
    const before = { cwd: this.record.cwd, env: this.record.env };
    this.record.cwd = cwd ?? before.cwd;
    this.record.env = { ...before.env, ...env };
    try {
      return await this.living();
    } catch (error) {
      Object.assign(this.record, before);
      throw error;
    }
  }

  /** The cell without what a new interpreter already has. */
  requestFor(cell: CellRecord): CellRecord {
    const request = within(this.#place, cell);
    this.#place = null;
    if (this.#formatted === this.current) return { ...request, formats: undefined };
    if (cell.formats !== undefined) this.#formatted = this.current;
    return request;
  }

  /** Kills the interpreter, also one that is still starting. */
  async end(): Promise<void> {
    const interpreter = this.current ?? (await this.#starting?.catch(() => null)) ?? null;
    this.current = null;
    await interpreter?.close();
  }

  /** The same, but the interpreter ends as a program does. */
  async endInOrder(isBusy: boolean): Promise<void> {
    const interpreter = this.current ?? (await this.#starting?.catch(() => null)) ?? null;
    this.current = null;
    if (interpreter) await endInOrder(interpreter, isBusy);
  }

  /** Lets an interpreter of this machine end as a program does. Its keeper kills one that takes longer. */
  async letEnd(isBusy: boolean, graceMs: number): Promise<void> {
    if (this.current && !this.current.elsewhere) await letEnd(this.current, isBusy, graceMs);
  }

  /** Ends an interpreter on another machine, which would otherwise outlive the daemon without a user. */
  async endElsewhere(): Promise<void> {
    const interpreter = this.current ?? (await this.#starting?.catch(() => null)) ?? null;
    if (interpreter?.elsewhere) await interpreter.close();
  }

  /** Records what another daemon takes over. */
  handOver(): void {
    const { elsewhere } = this.current ?? {};
    if (elsewhere) this.record.interpreter = elsewhere.nextId;
    // An interpreter that is still starting belongs to a waiting cell of this daemon.
    else if (this.#starting) this.record.interpreter = null;
  }

  /** Takes the interpreter back after the other daemon died before it served. */
  takeBack(): void {
    if (this.current?.elsewhere) this.record.interpreter = this.current.id;
  }

  #start(): Promise<Interpreter> {
    const { backend, cwd, env } = this.record;
    // A remote server may not have the directory. The server reports this when a cell asks for the directory.
    this.#place = backend === 'jupyter' ? null : { cwd, env };
    return this.deps.start(this.record);
  }
}

/** Drops what the interpreter has already, because kernels of some languages cannot change it. */
function within(place: StartPlace | null, cell: CellRecord): CellRecord {
  if (place === null) return cell;
  const env = Object.entries(cell.env).filter(([name, value]) => place.env[name] !== value);
  return { ...cell, cwd: cell.cwd === place.cwd ? null : cell.cwd, env: Object.fromEntries(env) };
}

export function closedSession(id: string): CoreError {
  return new CoreError('session_not_found', `session ${id} was deleted`);
}
