/** One kernel as the interpreter of a session: a process under a keeper, spoken to through a bridge. */
import { constants } from 'node:os';
import { Deadline } from '../../kit/deadline.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { Child, ChildEnd } from '../../platform/spawn.ts';
import type { Bridge, BridgedKernel } from './bridge.ts';
import type { CellRecord } from './cell.ts';
import { errorsOf } from './channel.ts';
import { endChild } from './child-interpreter.ts';
import type { CellEvent, InterpreterEvent } from './events.ts';
import type { CellOnItsWay, Interpreter, LogPosition } from './interpreter.ts';
import type { KernelNote } from './note.ts';
import type { RunningCell } from './session.ts';

export interface KernelDeps {
  readonly id: string;
  readonly child: Child;
  readonly note: KernelNote;
  readonly bridge: Bridge;
  /** Forgets it in its bridge, and its files. */
  readonly forget: () => void;
  readonly now: () => number;
}

/** What a kernel has printed may be on its way through the bridge when it dies. */
const lastWordsMs = 200;

export class KernelInterpreter implements Interpreter, BridgedKernel {
  readonly backend = 'kernel';
  /** IPython takes its time to show where the code was. */
  readonly interruptAgainMs = 1200;
  version = '';
  end: ChildEnd | null = null;
  isLeaving = false;
  isOpen = false;
  /** Why it cannot be spoken to; null when it can, as far as is known. */
  failure: string | null = null;
  /** What was asked and has not begun, and the one that has. */
  #asked: CellRecord[] = [];
  #begun: string | null = null;
  /** What an earlier daemon has asked for last has arrived. */
  #hasTaken = true;
  /** What its bridge has said before is of cells that are over. */
  #after: LogPosition | null = null;
  #early: [string, CellEvent][] = [];
  #onCell: ((cell: string, event: CellEvent) => void) | null = null;
  readonly #changes = new Notifier();

  constructor(private readonly deps: KernelDeps) {
    void this.#watch();
  }

  get id(): string {
    return this.deps.id;
  }

  get pid(): number | null {
    return this.deps.child.end ? null : this.deps.child.pid;
  }

  get isLetGo(): boolean {
    return this.deps.child.isLetGo;
  }

  get position(): LogPosition {
    return this.deps.bridge.position;
  }

  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  listen(onCell: (cell: string, event: CellEvent) => void): void {
    this.#onCell = onCell;
    for (const [cell, event] of this.#early.splice(0)) onCell(cell, event);
  }

  /** Resolves when it takes cells, cannot, or has ended, or when the signal aborts. */
  async opened(signal: AbortSignal): Promise<void> {
    while (!this.isOpen && this.failure === null && !this.deps.child.end && !signal.aborted) await this.changed(signal);
  }

  /** The end of what it has printed outside of cells. */
  readonly errors = (): string => errorsOf(this.deps.child);

  /** Goes on where an earlier daemon was with it; events up to `known` are of cells that are over. */
  resume(running: RunningCell | null, known: LogPosition): void {
    this.isOpen = true;
    this.#after = known;
    if (running === null) return;
    const isSame = running.from.log === known.log;
    this.#hasTaken = !isSame || this.deps.bridge.hasTaken(running.to);
    if (!this.#hasTaken) return;
    if (isSame) {
      this.#asked = [running.cell];
      this.#after = running.from;
      return;
    }
    // Another bridge has followed meanwhile, so that nobody can say whether it has begun: it must not run twice.
    this.#after = null;
    this.#begun = running.cell.id;
    this.#tell(running.cell.id, { kind: 'begin' });
  }

  requests(): readonly object[] {
    const { connection, language } = this.deps.note;
    const running = this.#begun === null ? {} : { running: this.#begun };
    return [{ op: 'open', kernel: this.id, connection, language, ...running }, ...this.#asked.map(this.#execution)];
  }

  handOver(cell: CellRecord): CellOnItsWay {
    const { end, send } = this.deps.bridge.handOver(this.#execution(cell));
    return { end, send: () => this.#ask(cell, send) };
  }

  /** Known since it was taken over. */
  hasTaken(): boolean {
    return this.#hasTaken;
  }

  async interrupt(): Promise<void> {
    if (this.deps.note.interruptMode === 'signal') await this.deps.child.signal(constants.signals.SIGINT, 'group');
    else await this.deps.bridge.handOver({ op: 'interrupt', kernel: this.id }).send();
  }

  async close(): Promise<void> {
    await endChild(this.deps.child);
    this.deps.forget();
  }

  take(event: InterpreterEvent, at: LogPosition): void {
    if (this.#after !== null && this.#after.log === at.log && at.offset <= this.#after.offset) return;
    if (event.about === 'cell') this.#takeCell(event.cell, event.event);
    else if (event.about === 'kernel' && event.kind === 'failed') this.lose(event.message);
    else if (event.about === 'kernel') {
      this.isOpen = true;
      this.version = event.version;
    }
    this.#changes.notify();
  }

  miss(): void {
    const cell = this.#begun ?? this.#asked[0]?.id;
    if (cell !== undefined) this.#tell(cell, { kind: 'gap' });
  }

  lose(message: string): void {
    this.failure = message;
    if (this.isOpen) this.end ??= { kind: 'lost', atMs: this.deps.now() };
    this.#changes.notify();
  }

  async #ask(cell: CellRecord, send: () => Promise<void>): Promise<void> {
    this.#asked.push(cell);
    try {
      await send();
    } catch (error) {
      this.#asked = this.#asked.filter(({ id }) => id !== cell.id);
      throw error;
    }
  }

  #takeCell(cell: string, event: CellEvent): void {
    if (event.kind === 'begin') {
      this.#begun = cell;
      this.#asked = this.#asked.filter(({ id }) => id !== cell);
    } else if (event.kind === 'end') {
      this.#begun = this.#begun === cell ? null : this.#begun;
      this.isLeaving ||= event.isExiting;
    }
    this.#tell(cell, event);
  }

  #tell(cell: string, event: CellEvent): void {
    if (this.#onCell) this.#onCell(cell, event);
    else this.#early.push([cell, event]);
  }

  readonly #execution = ({ id, code, cwd, env }: CellRecord): object => {
    return { op: 'execute', kernel: this.id, cell: id, code, cwd, env };
  };

  async #watch(): Promise<void> {
    const { child } = this.deps;
    while (!child.end) await child.changed();
    this.#changes.notify();
    using lastWords = new Deadline(lastWordsMs);
    while ((this.#begun !== null || this.#asked.length > 0) && !lastWords.passed) await this.changed(lastWords.signal);
    this.end ??= child.end;
    this.#changes.notify();
  }
}
