/** Uses one kernel as the interpreter of a session: a process under a keeper, reached through a bridge. */
import { constants } from 'node:os';
import { Deadline } from '../../../kit/deadline.ts';
import type { EncodedText } from '../../../kit/text/encoded-text.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import type { Child, ChildEnd } from '../../../platform/process/spawn.ts';
import { terminateAndForget } from '../../processes/terminate.ts';
import { lineOf, type Bridge, type BridgedKernel } from './bridge.ts';
import type { CellRecord } from '../cells/cell.ts';
import { errorsOf } from './channel.ts';
import type { CellEvent, InterpreterEvent } from '../cells/events.ts';
import { executeRequest, type Interpreter, type LogPosition, type Submission } from './interpreter.ts';
import type { KernelNote } from './note.ts';
import type { RunningCell } from '../sessions/record.ts';

export interface KernelDeps {
  readonly id: string;
  readonly child: Child;
  readonly note: KernelNote;
  readonly bridge: Bridge;
  /** Removes the kernel from its bridge and deletes its files. */
  readonly forget: () => void;
  readonly now: () => number;
}

/** When a kernel dies, its last output may still be in the bridge. */
const lastWordsMs = 200;

export class KernelInterpreter implements Interpreter, BridgedKernel {
  readonly backend = 'kernel';
  /** IPython needs this time to print the traceback of an interrupt. */
  readonly interruptAgainMs = 1200;
  version = '';
  end: ChildEnd | null = null;
  isLeaving = false;
  isOpen = false;
  /** Why the kernel cannot be reached; null when it can, as far as the daemon knows. */
  failure: string | null = null;
  /** The cells that were sent and have not begun, and the cell that has begun. */
  #asked: CellRecord[] = [];
  #begun: string | null = null;
  /** False when the last request of an earlier daemon did not arrive. */
  #hasTaken = true;
  /** Messages up to this position belong to cells that are over. */
  #after: LogPosition | null = null;
  #early: [string, CellEvent][] = [];
  /** True while the kernel ends with its program; its last outputs are followed by a message of the bridge. */
  #isEnding = false;
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

  /** Of its process. `end` comes later, when its last words are read. */
  get processEnd(): ChildEnd | null {
    return this.deps.child.end;
  }

  get ownership(): Ownership {
    return this.deps.child.ownership;
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

  /** Resolves when the kernel is ready, has failed or has ended, or when the signal aborts. */
  async opened(signal: AbortSignal): Promise<void> {
    while (!this.isOpen && this.failure === null && !this.deps.child.end && !signal.aborted) await this.changed(signal);
  }

  /** The end of its output outside of cells. */
  readonly errors = (): string => errorsOf(this.deps.child);

  /** Resumes the work of an earlier daemon. Events up to `known` belong to cells that are over. */
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
    // The bridge was restarted meanwhile, so it is unknown whether the cell has begun. The cell must not run twice.
    this.#after = null;
    this.#begun = running.cell.id;
    this.#pass(running.cell.id, { kind: 'begin' });
  }

  requests(): readonly object[] {
    const { connection, language } = this.deps.note;
    const running = this.#begun === null ? {} : { running: this.#begun };
    return [{ op: 'open', kernel: this.id, connection, language, ...running }, ...this.#asked.map(this.#execution)];
  }

  submit(cell: CellRecord, code: EncodedText): Submission {
    const line = code.jsonOf(this.#execution({ ...cell, code: code.placeholder }), '\n');
    const { end, send } = this.deps.bridge.submit(line);
    return { end, send: () => this.#ask(cell, send) };
  }

  /** The answer was determined in `resume`. */
  hasTaken(): boolean {
    return this.#hasTaken;
  }

  async interrupt(): Promise<void> {
    if (this.deps.note.interruptMode === 'signal') await this.deps.child.signal(constants.signals.SIGINT, 'group');
    else await this.deps.bridge.submit(lineOf({ op: 'interrupt', kernel: this.id })).send();
  }

  async leave(): Promise<void> {
    this.#isEnding = true;
    await this.deps.bridge.submit(lineOf({ op: 'shutdown', kernel: this.id })).send();
  }

  async close(): Promise<void> {
    await terminateAndForget(this.deps.child);
    this.deps.forget();
  }

  take(event: InterpreterEvent, at: LogPosition): void {
    if (this.#after !== null && this.#after.log === at.log && at.offset <= this.#after.offset) return;
    if (event.about === 'cell') this.#takeCell(event.cell, event.event);
    else if (event.about === 'kernel' && event.kind === 'failed') this.lose(event.message);
    else if (event.about === 'kernel' && event.kind === 'closed') this.#isEnding = false;
    else if (event.about === 'kernel') {
      this.isOpen = true;
      this.version = event.version;
    }
    this.#changes.notify();
  }

  miss(): void {
    const cell = this.#begun ?? this.#asked[0]?.id;
    if (cell !== undefined) this.#pass(cell, { kind: 'gap' });
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
      if (event.isPending) void this.leave().catch(() => null); // Without a bridge, the timeout of the cell ends the kernel.
    }
    this.#pass(cell, event);
  }

  #pass(cell: string, event: CellEvent): void {
    if (this.#onCell) this.#onCell(cell, event);
    else this.#early.push([cell, event]);
  }

  readonly #execution = (cell: CellRecord): object => ({ ...executeRequest(cell), kernel: this.id });

  async #watch(): Promise<void> {
    const { child } = this.deps;
    while (!child.end) await child.changed();
    this.#changes.notify();
    using lastWords = new Deadline(lastWordsMs);
    const isSpeaking = () => this.#begun !== null || this.#asked.length > 0 || this.#isEnding;
    while (isSpeaking() && !lastWords.passed) await this.changed(lastWords.signal);
    this.end ??= child.end;
    this.#changes.notify();
  }
}
