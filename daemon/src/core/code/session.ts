/** One session: its interpreter, the cells that wait for it, and the one that runs. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { Cell, type CellRecord, type InterpreterDeath, type Reason } from './cell.ts';
import { deathOf, describeEnd, interruptUntilOver, untilOver } from './cell-end.ts';
import { CellOutputs } from './cell-outputs.ts';
import type { CellEvent } from './events.ts';
import type { Interpreter, LogPosition } from './interpreter.ts';
import type { CodeBackendName, Language } from './language.ts';
import { within, type Place } from './place.ts';

/** Plain data, so that it can be kept in a file as it is. */
export interface SessionRecord {
  readonly id: string;
  readonly language: Language;
  readonly backend: CodeBackendName;
  /** The name of its kernelspec; null where there is none. */
  readonly kernel: string | null;
  /** The caller's word for its account; null is the default one. */
  readonly user: string | null;
  /** The name of that account when the session was made. */
  readonly account: string;
  cwd: string;
  env: EnvironmentChanges;
  /** It is for one cell, whose caller alone hears of it. */
  readonly isSingle: boolean;
  readonly createdMs: number;
  lastUsedMs: number;
  executionCount: number;
  /** The id of its interpreter; null while it has none. */
  interpreter: string | null;
  /** How long it may be idle; absent: as long as all of its kind. */
  readonly idleMs?: number;
  /** A directory of its own, which goes with it. */
  scratch?: string;
}

/** What runs in a session, written down for the next daemon. */
export interface RunningCell {
  readonly cell: CellRecord;
  readonly startedMs: number;
  /** Where its events begin. */
  readonly from: LogPosition;
  /** Where in the input of the interpreter it ends. */
  readonly to: number;
}

export interface SessionDeps {
  /** Makes an interpreter for this record. Throws `unavailable`. */
  readonly start: (record: SessionRecord) => Promise<Interpreter>;
  readonly notes: {
    save(id: string, running: RunningCell): void;
    clear(id: string): void;
    remove(id: string): void;
  };
  /** What is too large is put into files. Throws the system's error. */
  readonly shrink: (event: CellEvent, user: string | null) => CellEvent;
  readonly now: () => number;
  /** The record has changed; `isUrgent`: what it says now has to be known after the death of the daemon. */
  readonly onChange: (isUrgent: boolean) => void;
  readonly onFault: (what: string, error: unknown) => void;
}

const mostWaiting = 64;

export class CodeSession {
  /** The last one that was begun; null before any. */
  last: Cell | null = null;
  #interpreter: Interpreter | null = null;
  #starting: Promise<Interpreter> | null = null;
  /** Of a new interpreter, until it has its first cell; null where it may stand elsewhere. */
  #place: Place | null = null;
  #death: InterpreterDeath | null = null;
  readonly #waiting: Cell[] = [];
  #running: Cell | null = null;
  #isWorking = false;
  #isClosed = false;
  /** Why the interpreter of the running cell is being ended, where somebody has asked for it. */
  #ending: Reason | null = null;
  #late = new CellOutputs();

  constructor(
    readonly record: SessionRecord,
    private readonly deps: SessionDeps,
  ) {}

  get id(): string {
    return this.record.id;
  }

  get state(): 'idle' | 'busy' {
    return this.#running || this.#waiting.length > 0 ? 'busy' : 'idle';
  }

  /** Of code that waits for its turn. */
  get waitingCharacters(): number {
    return this.#waiting.reduce((sum, { record }) => sum + record.code.length, 0);
  }

  get pid(): number | null {
    return this.#interpreter?.pid ?? null;
  }

  /** Makes its interpreter, so that a session that cannot be is not. Throws `unavailable`. */
  async open(): Promise<void> {
    await this.#living();
  }

  /** Takes over the interpreter that an earlier daemon had for it, and goes on with what that runs. */
  resume(interpreter: Interpreter, running: RunningCell | null): void {
    // One that did not arrive as a whole is never run, and who has asked for it knows nothing of this daemon.
    if (running && interpreter.hasTaken(running.to)) {
      this.#running = this.last = new Cell(running.cell);
      this.#running.startedMs = running.startedMs;
      this.#isWorking = true;
    }
    this.#adopt(interpreter);
    if (this.#running) void this.#work(this.#running);
  }

  /** Its interpreter has gone while no daemon looked; the next cell says so. */
  lose(end: ChildEnd | null): void {
    this.record.interpreter = null;
    this.record.executionCount = 0;
    this.#death = end === null ? { signal: null, oomKilled: null } : deathOf(end);
  }

  #adopt(interpreter: Interpreter): void {
    this.#interpreter = interpreter;
    this.record.interpreter = interpreter.id;
    this.deps.onChange(true);
    interpreter.listen((cell, event) => this.#take(cell, event));
  }

  /** Runs behind what was asked before. Throws `capacity_reached`, `session_not_found`. */
  enqueue(record: CellRecord): Cell {
    if (this.#isClosed) throw closed(this.id);
    if (this.#waiting.length >= mostWaiting) {
      throw new CoreError('capacity_reached', `${mostWaiting} cells wait in session ${this.id} already`, {
        hint: 'Wait for them, or use another session.',
      });
    }
    const cell = new Cell(record);
    this.#waiting.push(cell);
    this.#touch();
    if (this.#isWorking) void this.#giveUpInTime(cell);
    else {
      this.#isWorking = true;
      void this.#work();
    }
    return cell;
  }

  /** Ends what runs as Ctrl-C does; false when nothing runs. */
  async interrupt(): Promise<boolean> {
    this.#touch();
    const cell = this.#running;
    if (!cell || !this.#interpreter) return false;
    const interpreter = this.#interpreter;
    // An interpreter that has not begun with it yet would take the signal for one between two cells.
    while (!cell.hasBegun && !cell.isOver) await cell.changed();
    if (cell.isOver) return false;
    await interruptUntilOver(cell, interpreter);
    return true;
  }

  /** A new interpreter, without the state. Throws `unavailable`. */
  async restart(): Promise<void> {
    this.#touch();
    await this.#end({ ename: 'SessionRestarted', evalue: 'the session was restarted while the cell ran' });
    this.record.executionCount = 0;
    this.deps.onChange(false);
    await this.#living();
  }

  /** Ends its interpreter; what waits is told. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cell of this.#waiting.splice(0)) cell.fail(closed(this.id));
    await this.#end({ ename: 'SessionClosed', evalue: 'the session was deleted while the cell ran' });
    this.deps.notes.remove(this.id);
  }

  /** Another daemon goes on with it: what waits is asked for there. */
  handOver(): void {
    for (const cell of this.#waiting.splice(0)) cell.fail(new HandedOver());
    const { elsewhere } = this.#interpreter ?? {};
    if (elsewhere) this.record.interpreter = elsewhere.letGo();
    // What is still being started is for the cell that waits for it here.
    else if (this.#starting) this.record.interpreter = null;
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    const interpreter = this.#interpreter;
    interpreter?.elsewhere?.takeBack();
    if (interpreter?.elsewhere) this.record.interpreter = interpreter.id;
  }

  /** Ends an interpreter that would outlive this daemon for nobody. */
  async endElsewhere(): Promise<void> {
    const interpreter = this.#interpreter ?? (await this.#starting?.catch(() => null)) ?? null;
    if (interpreter?.elsewhere) await interpreter.close();
  }

  async #end(reason: Reason): Promise<void> {
    this.#ending = reason;
    try {
      const interpreter = this.#interpreter ?? (await this.#starting?.catch(() => null)) ?? null;
      this.#interpreter = null;
      await interpreter?.close();
      // Whatever its end was, it was asked for.
      this.#running?.abandon(reason, { exitCode: null, death: null }, this.deps.now());
      this.#death = null;
    } finally {
      this.#ending = null;
    }
  }

  /** One after another; the first one may have been handed over by an earlier daemon. */
  async #work(resumed: Cell | null = null): Promise<void> {
    for (let cell = resumed ?? this.#waiting.shift(); cell; cell = this.#waiting.shift()) {
      this.#running = this.last = cell;
      try {
        await (cell === resumed ? this.#finish(cell, this.#interpreter) : this.#run(cell));
      } catch (error) {
        cell.fail(error instanceof CoreError || error instanceof HandedOver ? error : this.#fault(error));
      }
      this.#running = null;
      this.#touch();
    }
    this.#isWorking = false;
  }

  async #run(cell: Cell): Promise<void> {
    const { record } = cell;
    const interpreter = await this.#livingAt(record);
    for (const output of this.#late.all) cell.late.take({ kind: 'output', output, displayId: null });
    this.#late = new CellOutputs();
    cell.deathBefore = this.#death;
    this.#death = null;
    const startedMs = this.deps.now();
    const asked = within(this.#place, record);
    this.#place = null;
    const { end, send } = interpreter.handOver(asked);
    this.deps.notes.save(this.id, { cell: asked, startedMs, from: interpreter.position, to: end });
    cell.startedMs = startedMs;
    // One that takes nothing any more has ended, or is being ended: what becomes of the cell is seen below.
    const sent = send().catch((error: unknown) => {
      if (error instanceof HandedOver) throw error;
    });
    await Promise.all([sent, this.#finish(cell, interpreter)]);
  }

  /** Waits for the end of a cell that was handed over, and sees to it that there is one. */
  async #finish(cell: Cell, interpreter: Interpreter | null): Promise<void> {
    if (interpreter) {
      using deadline = new Deadline((cell.startedMs ?? 0) + cell.record.timeoutMs - this.deps.now());
      await untilOver(cell, interpreter, deadline.signal);
      if (!cell.isOver && !interpreter.end && !interpreter.isLetGo) await this.#stop(cell, interpreter);
      this.#settleDeath(cell, interpreter);
    }
    if (interpreter?.isLetGo) return;
    this.record.executionCount = cell.end?.executionCount ?? this.record.executionCount;
    this.deps.notes.clear(this.id);
  }

  /** Its time is over. */
  async #stop(cell: Cell, interpreter: Interpreter): Promise<void> {
    cell.isTimedOut = true;
    await interruptUntilOver(cell, interpreter);
    if (cell.isOver) return;
    this.#interpreter = null;
    await interpreter.close();
    const death = { signal: null, oomKilled: false };
    cell.finish({ status: 'timeout', executionCount: null, exitCode: null, death }, this.deps.now());
  }

  /** An interpreter that has ended in the middle of a cell. */
  #settleDeath(cell: Cell, interpreter: Interpreter): void {
    if (cell.isOver || !interpreter.end) return;
    // It is told of here, and by no other cell.
    if (this.#interpreter === interpreter) this.#interpreter = null;
    interpreter.close().catch((error: unknown) => this.deps.onFault('an interpreter could not be forgotten', error));
    if (this.#ending) {
      cell.abandon(this.#ending, { exitCode: null, death: null }, this.deps.now());
      return;
    }
    const { end } = interpreter;
    const exitCode = end.kind === 'exited' ? end.exitCode : null;
    cell.abandon({ ename: 'KernelDied', evalue: describeEnd(end) }, { exitCode, death: deathOf(end) }, this.deps.now());
  }

  /** A new interpreter begins where the cell is to run: the place of the session may be gone. */
  async #livingAt({ cwd, env }: CellRecord): Promise<Interpreter> {
    const before = { cwd: this.record.cwd, env: this.record.env };
    this.record.cwd = cwd ?? before.cwd;
    this.record.env = { ...before.env, ...env };
    try {
      return await this.#living();
    } catch (error) {
      Object.assign(this.record, before);
      throw error;
    }
  }

  /** The interpreter; a new one where there is none any more. */
  async #living(): Promise<Interpreter> {
    const last = this.#interpreter;
    if (last && !last.end && !last.isLeaving) return last;
    if (last) {
      // One that its own code has asked to end has done so, or is about to: that is no death.
      this.#death = last.end && !last.isLeaving ? deathOf(last.end) : null;
      this.#interpreter = null;
      this.record.executionCount = 0;
      await last.close();
    }
    this.#starting ??= this.#start();
    try {
      const interpreter = await this.#starting;
      if (this.#isClosed) {
        await interpreter.close();
        throw closed(this.id);
      }
      this.#adopt(interpreter);
      return interpreter;
    } finally {
      this.#starting = null;
    }
  }

  #start(): Promise<Interpreter> {
    const { backend, cwd, env } = this.record;
    // A server elsewhere may not have the directory, and says so when a cell asks for it.
    this.#place = backend === 'jupyter' ? null : { cwd, env };
    return this.deps.start(this.record);
  }

  async #giveUpInTime(cell: Cell): Promise<void> {
    using deadline = new Deadline(cell.record.timeoutMs);
    while (!deadline.passed && this.#waiting.includes(cell)) await cell.changed(deadline.signal);
    const index = this.#waiting.indexOf(cell);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    cell.fail(
      new CoreError('session_busy', `session ${this.id} was busy for all of the time; the code did not run`, {
        hint: `Wait longer (timeout), POST /v2/code/sessions/${this.id}/interrupt, or use another session.`,
      }),
    );
  }

  #take(id: string, told: CellEvent): void {
    const event = this.#shrunk(told);
    if (this.#running?.id === id) this.#running.take(event, this.deps.now());
    else if (event.kind === 'output') this.#late.take(event);
  }

  #shrunk(event: CellEvent): CellEvent {
    try {
      return this.deps.shrink(event, this.record.user);
    } catch (error) {
      this.deps.onFault(`a large value of ${this.id} could not be kept`, error);
      return event; // The bound on all outputs of a cell cuts it.
    }
  }

  #touch(): void {
    this.record.lastUsedMs = this.deps.now();
    this.deps.onChange(false);
  }

  #fault(error: unknown): CoreError {
    this.deps.onFault(`a cell in ${this.id}`, error);
    return new CoreError('unavailable', 'the interpreter of the session was lost', { hint: 'Run the code again.' });
  }
}

function closed(id: string): CoreError {
  return new CoreError('session_not_found', `session ${id} was deleted`);
}
