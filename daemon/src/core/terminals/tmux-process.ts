/** One session in tmux while it lives: the lines that its server is given, and the pids that this has told. */
import { Deadline } from '../../kit/deadline.ts';
import type { ProcessStates } from '../../platform/process-states.ts';
import type { Child, ChildEnd } from '../../platform/spawn.ts';
import type { TerminalDevices, TerminalPlace } from '../../platform/terminal-device.ts';
import type { ShellProcess } from './shell-process.ts';
import type { TerminalSize } from './terminal-size.ts';
import { cutLine, resizeLine, typedWithin, typeLines } from './tmux-lines.ts';
import { startLine } from './tmux-script.ts';
import { TmuxWatch, type WatchedTmux } from './tmux-watch.ts';

/** What is about to be typed: with what its keeper has taken, the next daemon knows how much was. */
export interface TypedNote {
  /** Bytes of standard input that were taken before. */
  readonly from: number;
  /** Bytes that were typed before. */
  readonly typed: number;
  /** A line that was cut off is ended first. */
  readonly isCut: boolean;
  readonly count: number;
}

export interface TypedNotes {
  load(): TypedNote | null;
  /** Throws the system's error. */
  save(note: TypedNote): void;
  remove(): void;
}

export interface TmuxProcessDeps {
  readonly devices: TerminalDevices;
  readonly states: ProcessStates;
  readonly notes: (child: Child) => TypedNotes;
}

/** What the script says once the shell runs. */
interface Told {
  readonly pids: { readonly shell: number; readonly server: number };
  readonly terminal: TerminalPlace;
}

const mostErrorBytes = 4096;
/** Typed in one go; a change of the size may come between two of them. */
const mostAtOnceBytes = 16 * 1024;
/** tmux takes whatever it is told to type: what no program has read is bounded here. */
const mostUnreadBytes = 64 * 1024;
const lookEveryMs = 2;
/** tmux changes a size that it has just changed a quarter of a second later. */
const resizeWithinMs = 1000;

export class TmuxProcess implements ShellProcess, WatchedTmux {
  readonly backend = 'tmux';
  typedBytes: number | null;
  readonly #notes: TypedNotes;
  #told: Told | null = null;
  readonly #holders = new Set<object>();
  #writing: Promise<unknown> = Promise.resolve();
  /** An earlier daemon may have left the beginning of a line behind. */
  #isCut: boolean;
  /** Typed since the terminal was last seen to have nothing unread. */
  #unreadBytes = 0;
  /** Not given to tmux yet. */
  #size: TerminalSize | null = null;

  constructor(
    readonly child: Child,
    private readonly deps: TmuxProcessDeps,
  ) {
    new TmuxWatch(this, deps.states).start();
    this.#notes = deps.notes(child);
    this.#isCut = child.stdin.accepted > 0;
    this.typedBytes = child.stdin.accepted === 0 ? 0 : typedBefore(child, this.#notes.load());
  }

  get pid(): number | null {
    return this.pids?.shell ?? null;
  }

  get pids(): Told['pids'] | null {
    return this.#started?.pids ?? null;
  }

  get end(): ChildEnd | null {
    return this.child.end;
  }

  /** False when it has not begun when the signal aborts, or can no more. */
  async hasStarted(signal: AbortSignal): Promise<boolean> {
    while (this.pid === null && !this.end && !signal.aborted) {
      this.child.watch();
      this.child.refresh();
      if (this.pid === null) await this.child.changed(signal);
    }
    return this.pid !== null;
  }

  /** What tmux or its script have said. */
  errors(): string {
    using _open = this.child.directory.use();
    const piece = this.child.log('stderr').readInto(Buffer.alloc(mostErrorBytes), 0);
    return piece?.kind === 'bytes' ? Buffer.from(piece.bytes).toString().trim() : '';
  }

  async type(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    let taken = 0;
    while (taken < bytes.length && (await this.#hasRoom(signal))) {
      const some = bytes.subarray(taken, taken + mostAtOnceBytes);
      const count = await this.#next(() => this.#typeNow(some, signal));
      taken += count;
      this.#unreadBytes += count;
      if (count < some.length) break;
    }
    return taken;
  }

  /** What is typed later comes later: it waits until the terminal has that size. */
  resize(size: TerminalSize): void {
    this.#size = size;
    void this.#next(() => this.#resizeNow());
  }

  pause(): void {
    this.hold(this);
  }

  resume(): void {
    this.release(this);
  }

  hold(holder: object): void {
    this.#holders.add(holder);
    if (this.#terminal) this.deps.devices.hold(this.#terminal);
  }

  release(holder: object): void {
    this.#holders.delete(holder);
    if (this.#holders.size === 0 && this.#terminal) this.deps.devices.release(this.#terminal);
  }

  get #started(): Told | null {
    const [, shell, path, server] = (this.#told ? null : startLine.exec(this.errors())) ?? [];
    if (path !== undefined) {
      this.#told = {
        pids: { shell: Number(shell), server: Number(server) },
        terminal: { pid: Number(shell), path },
      };
    }
    return this.#told;
  }

  get #terminal(): TerminalPlace | null {
    return this.#started?.terminal ?? null;
  }

  /** Waits for programs to read what was typed; false when they do not. */
  async #hasRoom(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (this.#unreadBytes >= mostUnreadBytes && this.#isAllRead()) this.#unreadBytes = 0;
      if (this.#unreadBytes < mostUnreadBytes || this.end) return true;
      using look = new Deadline(lookEveryMs, signal);
      await this.child.changed(look.signal);
    }
    return false;
  }

  /** Also where nobody can know. */
  #isAllRead(): boolean {
    const { accepted, written } = this.child.stdin;
    return written === accepted && !(this.#terminal && this.deps.devices.unreadBytes(this.#terminal));
  }

  async #typeNow(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    if (signal.aborted || !this.child.stdin.isOpen) return 0;
    const from = this.child.stdin.accepted;
    const isCut = this.#isCut;
    if (this.typedBytes !== null) this.#note({ from, typed: this.typedBytes, isCut, count: bytes.length });
    const written = await this.#write(typeLines(bytes).join(''), signal);
    const count = typedWithin(written, bytes.length);
    if (this.typedBytes !== null) this.typedBytes += count;
    return count;
  }

  #note(note: TypedNote): void {
    try {
      this.#notes.save(note);
    } catch {
      // On a full disk it can still be typed; an old number would have the next daemon tell too little.
      this.#notes.remove();
      this.typedBytes = null;
    }
  }

  /** Several changes that wait are one. */
  async #resizeNow(): Promise<void> {
    const size = this.#size;
    this.#size = null;
    if (!size) return;
    using deadline = new Deadline(resizeWithinMs);
    await this.#write(resizeLine(size), deadline.signal);
    while (!deadline.passed && !this.end && !this.#hasSize(size)) {
      using look = new Deadline(lookEveryMs, deadline.signal);
      await this.child.changed(look.signal);
    }
  }

  /** Also where nobody can know. */
  #hasSize({ cols, rows }: TerminalSize): boolean {
    const size = this.#terminal && this.deps.devices.size(this.#terminal);
    return !size || (size.cols === cols && size.rows === rows);
  }

  /** Behind what is being done. */
  #next<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(act);
    this.#writing = done.catch(() => null); // The next one is done, whatever became of this one.
    return done;
  }

  /** Answers how many characters of the lines were taken. */
  async #write(lines: string, signal: AbortSignal): Promise<number> {
    const cut = this.#isCut ? cutLine : '';
    const from = this.child.stdin.accepted;
    const end = await this.child.writeStdin(from, Buffer.from(cut + lines), signal);
    if (end - from === cut.length + lines.length) this.#isCut = false;
    else this.#isCut ||= end > from;
    return Math.max(0, end - from - cut.length);
  }
}

/** null when nothing was written down. */
function typedBefore({ stdin }: Child, note: TypedNote | null): number | null {
  if (!note || note.from > stdin.accepted) return null;
  const written = stdin.accepted - note.from - (note.isCut ? cutLine.length : 0);
  return note.typed + typedWithin(written, note.count);
}
