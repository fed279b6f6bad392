/** Runs the cells of one code session, one after another, in its interpreter. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { EncodedText } from '../../../kit/text/encoded-text.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import { Cell, type CellRecord, type InterpreterDeath, type Reason } from '../cells/cell.ts';
import { deathOf, howEnded, interruptUntilOver, untilOver } from '../cells/end.ts';
import { CellOutputs } from '../cells/outputs.ts';
import type { CellEvent } from '../cells/events.ts';
import type { Interpreter } from '../backends/interpreter.ts';
import type { RunningCell, SessionRecord } from './record.ts';
import { closedSession, SessionInterpreter, type SessionInterpreterDeps } from './session-interpreter.ts';

export interface SessionDeps extends SessionInterpreterDeps {
  readonly notes: {
    /** Stores the JSON of a `RunningCell`. */
    saveJson(id: string, running: readonly Uint8Array[]): void;
    clear(id: string): void;
    remove(id: string): void;
  };
  /** Moves values that are too large into files. Throws the system's error. */
  readonly shrink: (event: CellEvent, user: string | null) => CellEvent;
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

const maxWaiting = 64;
/** Time for a cell whose caller has gone to end after the interrupt. */
const cancelGraceMs = 5000;

export class CodeSession {
  /** The cell that started last; null before the first cell. */
  last: Cell | null = null;
  readonly #interpreter: SessionInterpreter;
  readonly #waiting: Cell[] = [];
  #running: Cell | null = null;
  /** The running cell, if its caller has gone and the interrupt has no effect. */
  #stuck: Cell | null = null;
  #isWorking = false;
  /** Why the interpreter of the running cell is being ended, if a caller asked for this. */
  #ending: Reason | null = null;
  #late = new CellOutputs();

  constructor(
    readonly record: SessionRecord,
    private readonly deps: SessionDeps,
  ) {
    this.#interpreter = new SessionInterpreter(record, deps, (cell, event) => this.#take(cell, event));
  }

  get id(): string {
    return this.record.id;
  }

  get state(): 'idle' | 'busy' {
    return this.#running || this.#waiting.length > 0 ? 'busy' : 'idle';
  }

  get waitingCharacters(): number {
    return this.#waiting.reduce((sum, { record }) => sum + record.code.length, 0);
  }

  /** True when the interpreter has ended and no cell needs a new one yet. */
  get isWithoutProcess(): boolean {
    return (
      this.state === 'idle' &&
      !this.#interpreter.isStarting &&
      this.#ending === null &&
      this.#interpreter.current?.end !== null
    );
  }

  get pid(): number | null {
    return this.#interpreter.current?.pid ?? null;
  }

  /** Starts the interpreter, so that a session that cannot run is never created. Throws `unavailable`. */
  async open(): Promise<void> {
    await this.#interpreter.living();
    this.#touch();
  }

  /** Takes over the interpreter of an earlier daemon, and resumes its running cell. */
  resume(interpreter: Interpreter, running: RunningCell | null): void {
    // A cell that did not arrive completely never runs, and its caller does not know this daemon.
    if (running && interpreter.hasTaken(running.to)) {
      this.#running = this.last = new Cell(running.cell);
      this.#running.startedMs = running.startedMs;
      this.#isWorking = true;
    }
    this.#interpreter.adopt(interpreter);
    if (this.#running) void this.#work(this.#running);
  }

  /** Records that the interpreter ended while no daemon was running. The next cell reports this. */
  lose(end: ChildEnd | null): void {
    this.record.interpreter = null;
    this.record.executionCount = 0;
    this.followLoss(end === null ? { cause: 'died', signal: null, oomKilled: null } : deathOf(end));
  }

  /** The next cell reports this loss of the state. */
  followLoss(death: InterpreterDeath): void {
    this.#interpreter.death = death;
  }

  /** Queues a cell behind the earlier cells. Throws `capacity_reached`, `session_busy`, `session_not_found`. */
  enqueue(record: CellRecord): Cell {
    if (this.#interpreter.isClosed) throw closedSession(this.id);
    if (this.#stuck !== null && this.#stuck === this.#running) throw stuckSession(this.id);
    if (this.#waiting.length >= maxWaiting) {
      throw new CoreError('capacity_reached', `${maxWaiting} cells wait in session ${this.id} already`, {
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

  /** Interrupts the running cell like Ctrl-C. Returns false when no cell runs. */
  async interrupt(): Promise<boolean> {
    this.#touch();
    const cell = this.#running;
    const interpreter = this.#interpreter.current;
    if (!cell || !interpreter) return false;
    // Before the cell begins, the interpreter would treat the signal as a signal between two cells.
    while (!cell.hasBegun && !cell.isOver) await cell.changed();
    if (cell.isOver) return false;
    await interruptUntilOver(cell, interpreter);
    return true;
  }

  /** Ends a cell whose caller has gone: a waiting cell does not run, and a running cell is interrupted. */
  async cancel(cell: Cell): Promise<void> {
    const index = this.#waiting.indexOf(cell);
    if (index >= 0) this.#waiting.splice(index, 1);
    if (index >= 0) cell.fail(new CoreError('session_busy', `the caller of a cell in session ${this.id} has gone`));
    else if (this.#running === cell) await Promise.all([this.interrupt(), this.#refuseBehind(cell)]);
  }

  /** Behind code that catches every interrupt, other cells would wait without an end. */
  async #refuseBehind(cell: Cell): Promise<void> {
    using grace = new Deadline(cancelGraceMs);
    await cell.finished(grace.signal);
    if (cell.isOver) return;
    this.#stuck = cell;
    for (const waiting of this.#waiting.splice(0)) waiting.fail(stuckSession(this.id));
  }

  /** Replaces the interpreter by a new one, without the old state. Throws `unavailable`. */
  async restart(): Promise<void> {
    this.#touch();
    await this.#end({ ename: 'SessionRestarted', evalue: 'the session was restarted while the cell ran' });
    this.record.executionCount = 0;
    this.deps.onChange(false);
    await this.#interpreter.living();
  }

  /** Ends the interpreter as a program ends. Waiting cells fail. */
  async close(): Promise<void> {
    this.#interpreter.isClosed = true;
    for (const cell of this.#waiting.splice(0)) cell.fail(closedSession(this.id));
    await this.#end({ ename: 'SessionClosed', evalue: 'the session was deleted while the cell ran' });
    this.deps.notes.remove(this.id);
  }

  /** Hands the session over to another daemon. The callers of waiting cells must ask that daemon. */
  handOver(): void {
    for (const cell of this.#waiting.splice(0)) cell.fail(new HandedOver());
    this.#interpreter.handOver();
  }

  /** Takes the session back after the other daemon died before it served. */
  takeBack(): void {
    this.#interpreter.takeBack();
  }

  /** Resumes what is sent to the interpreter after another daemon had its process. */
  resumeInput(): void {
    this.#interpreter.current?.resumeInput?.();
  }

  /** Ends an interpreter on another machine, which would otherwise outlive the daemon without a user. */
  endElsewhere(): Promise<void> {
    return this.#interpreter.endElsewhere();
  }

  /** Lets an interpreter of this machine end as a program does, before the daemon ends. */
  letEnd(graceMs: number): Promise<void> {
    return this.#interpreter.letEnd(this.#running?.isOver === false, graceMs);
  }

  async #end(reason: Reason): Promise<void> {
    this.#ending = reason;
    try {
      const running = this.#running?.isOver === false ? this.#running : null;
      // What a single run leaves behind after its cell has nothing more to do.
      const isDone = this.record.isSingle && !running;
      const ended = isDone ? this.#interpreter.end() : this.#interpreter.endInOrder(running !== null);
      // The end was requested, so its details do not matter.
      running?.abandon(reason, { exitCode: null, death: null }, this.deps.now());
      await ended;
      this.#interpreter.death = null;
    } finally {
      this.#ending = null;
    }
  }

  /** Runs the cells one after another. The first cell may be a resumed cell of an earlier daemon. */
  async #work(resumed: Cell | null = null): Promise<void> {
    for (let cell = resumed ?? this.#waiting.shift(); cell; cell = this.#waiting.shift()) {
      this.#running = this.last = cell;
      try {
        await (cell === resumed ? this.#finish(cell, this.#interpreter.current) : this.#run(cell));
      } catch (error) {
        cell.fail(error instanceof CoreError || error instanceof HandedOver ? error : this.#fault(error));
      }
      this.#running = null;
      this.#touch();
    }
    this.#isWorking = false;
  }

  async #run(cell: Cell): Promise<void> {
    await this.#runOnce(cell, true);
    if (!cell.isOver && this.#interpreter.death) await this.#runOnce(cell, false);
  }

  /** With `mayLeave`, a cell stays pending for another run if the interpreter dies before the cell begins. */
  async #runOnce(cell: Cell, mayLeave: boolean): Promise<void> {
    const { record } = cell;
    const code = await EncodedText.of(record.code);
    const interpreter = await this.#interpreter.livingFor(record);
    for (const output of this.#late.all) cell.late.take({ kind: 'output', output, displayId: null });
    this.#late = new CellOutputs();
    cell.deathBefore = this.#interpreter.death;
    this.#interpreter.death = null;
    const startedMs = this.deps.now();
    const asked = this.#interpreter.requestFor(record);
    const { end, send } = interpreter.submit(asked, code);
    const cellWithoutCode = { ...asked, code: code.placeholder };
    const running: RunningCell = { cell: cellWithoutCode, startedMs, from: interpreter.position, to: end };
    this.deps.notes.saveJson(this.id, code.jsonOf(running));
    cell.startedMs = startedMs;
    // If the interpreter accepts no more input, it has ended or is ending. `#finish` handles this case.
    const sent = send().catch((error: unknown) => {
      if (error instanceof HandedOver) throw error;
    });
    await Promise.all([sent, this.#finish(cell, interpreter, mayLeave)]);
  }

  /** Waits until a sent cell ends, and stops the cell at its timeout. */
  async #finish(cell: Cell, interpreter: Interpreter | null, mayLeave = false): Promise<void> {
    if (interpreter) {
      using deadline = new Deadline((cell.startedMs ?? 0) + cell.record.timeoutMs - this.deps.now());
      await untilOver(cell, interpreter, deadline.signal);
      if (!cell.isOver && !interpreter.end && !interpreter.ownership.isLeft) await this.#stop(cell, interpreter);
      this.#settleDeath(cell, interpreter, mayLeave);
    }
    if (interpreter?.ownership.isLeft) return;
    this.record.executionCount = cell.end?.executionCount ?? this.record.executionCount;
    this.deps.notes.clear(this.id);
  }

  /** Stops a cell that has reached its timeout. */
  async #stop(cell: Cell, interpreter: Interpreter): Promise<void> {
    cell.isTimedOut = true;
    await interruptUntilOver(cell, interpreter);
    if (cell.isOver || interpreter.end) return;
    this.#interpreter.current = null;
    await interpreter.close();
    const death = { cause: 'timeout', signal: null, oomKilled: false } as const;
    this.followLoss(death);
    cell.finish({ status: 'timeout', executionCount: null, exitCode: null, death }, this.deps.now());
  }

  /** Handles an interpreter that ended during a cell or just before it. */
  #settleDeath(cell: Cell, interpreter: Interpreter, mayLeave: boolean): void {
    if (cell.isOver || !interpreter.end) return;
    // This cell reports the death, so no later cell reports it again.
    if (this.#interpreter.current === interpreter) this.#interpreter.current = null;
    interpreter.close().catch((error: unknown) => this.deps.onFault('an interpreter could not be forgotten', error));
    if (this.#ending) {
      cell.abandon(this.#ending, { exitCode: null, death: null }, this.deps.now());
      return;
    }
    const { end } = interpreter;
    if (cell.isProgram && cell.endWith(end, this.deps.now())) return;
    // For a Jupyter server, a missing begin event does not prove that the cell did not run.
    if (mayLeave && !cell.hasBegun && !interpreter.elsewhere) {
      this.#interpreter.death = deathOf(end);
      this.record.executionCount = 0;
      return;
    }
    const exitCode = end.kind === 'exited' ? end.exitCode : null;
    const death = deathOf(end);
    this.followLoss(death);
    cell.abandon(
      { ename: 'KernelDied', evalue: `the interpreter ${howEnded(end)}` },
      { exitCode, death },
      this.deps.now(),
    );
  }

  async #giveUpInTime(cell: Cell): Promise<void> {
    using deadline = new Deadline(cell.record.timeoutMs);
    while (!deadline.passed && this.#waiting.includes(cell)) await cell.changed(deadline.signal);
    const index = this.#waiting.indexOf(cell);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    cell.fail(
      new CoreError('session_busy', `session ${this.id} was busy until the timeout; the code did not run`, {
        hint: 'Wait longer (timeout), or use another session.',
        next: { operation: 'code.interrupt', id: this.id },
      }),
    );
  }

  #take(id: string, received: CellEvent): void {
    const event = this.#shrunk(received);
    if (this.#running?.id === id) this.#running.take(event, this.deps.now());
    else if (event.kind === 'output') this.#late.take(event);
  }

  #shrunk(event: CellEvent): CellEvent {
    try {
      return this.deps.shrink(event, this.record.user);
    } catch (error) {
      this.deps.onFault(`a large value of ${this.id} could not be kept`, error);
      return event; // The value stays in the output. The limit on the outputs of a cell then cuts the value.
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

function stuckSession(id: string): CoreError {
  const what = `session ${id} runs a cell whose caller has gone, and which ignores the interrupt`;
  return new CoreError('session_busy', `${what}; the code did not run`, {
    hint: 'Restart the session to end that cell, or use another session.',
  });
}
