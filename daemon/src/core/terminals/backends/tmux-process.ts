/** Controls the tmux server of one session: types into it, resizes it and tracks its pids. */
import { Deadline } from '../../../kit/deadline.ts';
import { decodeUtf8 } from '../../../kit/text/text.ts';
import type { ProcessStates } from '../../../platform/process/process-states.ts';
import type { Child, ChildEnd } from '../../../platform/process/spawn.ts';
import type { TerminalDevices, TerminalPlace } from '../../../platform/terminal/terminal-device.ts';
import { readLog } from '../../processes/read-log.ts';
import type { ShellProcess } from './shell-process.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';
import { cutLine, resizeLine, typedWithin, typeLines } from './tmux-lines.ts';
import { startLine } from './tmux-script.ts';
import { TmuxWatch, type WatchedTmux } from './tmux-watch.ts';

/** The bytes about to be typed. The next daemon compares them with what the keeper took. */
export interface TypedNote {
  /** Bytes of standard input that were taken before. */
  readonly from: number;
  /** Bytes that were typed before. */
  readonly typed: number;
  /** True if a partial line has to be terminated first. */
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

/** What the script reports once the shell runs. */
interface Pane {
  readonly pids: { readonly shell: number; readonly server: number };
  readonly terminal: TerminalPlace;
}

const maxErrorBytes = 4096;
/** How much is typed at once. A resize may come between two such pieces. */
const maxAtOnceBytes = 16 * 1024;
/** tmux accepts any amount of typed input, so this bounds the bytes that no program has read yet. */
const maxUnreadBytes = 64 * 1024;
const lookEveryMs = 2;
/** After one resize, tmux delays the next by a quarter of a second. */
const resizeWithinMs = 1000;

export class TmuxProcess implements ShellProcess, WatchedTmux {
  readonly backend = 'tmux';
  typedBytes: number | null;
  readonly #notes: TypedNotes;
  #pane: Pane | null = null;
  readonly #holders = new Set<object>();
  #writing: Promise<unknown> = Promise.resolve();
  /** True if an earlier daemon may have left a partial line. */
  #isCut: boolean;
  /** Bytes typed since the terminal last had no unread input. */
  #unreadBytes = 0;
  /** A size that tmux has not received yet. */
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

  get pids(): Pane['pids'] | null {
    return this.#started?.pids ?? null;
  }

  get end(): ChildEnd | null {
    return this.child.end;
  }

  /** Returns false if the shell has not started when the signal aborts, or cannot start any more. */
  async hasStarted(signal: AbortSignal): Promise<boolean> {
    while (this.pid === null && !this.end && !signal.aborted) {
      this.child.watch();
      this.child.refresh();
      if (this.pid === null) await this.child.changed(signal);
    }
    return this.pid !== null;
  }

  /** Error output of tmux and of its script. */
  errors(): string {
    using _open = this.child.directory.use();
    return decodeUtf8(readLog(this.child.log('stderr'), 0, maxErrorBytes).bytes).trim();
  }

  async type(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    let taken = 0;
    while (taken < bytes.length && (await this.#hasRoom(signal))) {
      const some = bytes.subarray(taken, taken + maxAtOnceBytes);
      const count = await this.#next(() => this.#typeNow(some, signal));
      taken += count;
      this.#unreadBytes += count;
      if (count < some.length) break;
    }
    return taken;
  }

  /** Later input waits until the terminal has the new size. */
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

  /** Excludes the helper processes of tmux, which are in other sessions than the shell and its jobs. */
  async startedPids(): Promise<readonly number[]> {
    const { pid: shell } = this;
    const { states } = this.deps;
    return (await this.child.tree()).filter((pid) => pid !== shell && states.session(pid) === shell);
  }

  hold(holder: object): void {
    this.#holders.add(holder);
    if (this.#terminal) this.deps.devices.hold(this.#terminal);
  }

  release(holder: object): void {
    this.#holders.delete(holder);
    if (this.#holders.size === 0 && this.#terminal) this.deps.devices.release(this.#terminal);
  }

  get #started(): Pane | null {
    const [, shell, path, server] = (this.#pane ? null : startLine.exec(this.errors())) ?? [];
    if (path !== undefined) {
      this.#pane = {
        pids: { shell: Number(shell), server: Number(server) },
        terminal: { pid: Number(shell), path },
      };
    }
    return this.#pane;
  }

  get #terminal(): TerminalPlace | null {
    return this.#started?.terminal ?? null;
  }

  /** Waits for programs to read the typed input; false if they do not. */
  async #hasRoom(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (this.#unreadBytes >= maxUnreadBytes && this.#isAllRead()) this.#unreadBytes = 0;
      if (this.#unreadBytes < maxUnreadBytes || this.end) return true;
      using look = new Deadline(lookEveryMs, signal);
      await this.child.changed(look.signal);
    }
    return false;
  }

  /** Also true if the state is unknown. */
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
      // Typing still works on a full disk. Remove the note, because a stale one would make the next daemon count too
      // few bytes.
      this.#notes.remove();
      this.typedBytes = null;
    }
  }

  /** Pending changes are merged into one. */
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

  /** Also true if the size is unknown. */
  #hasSize({ cols, rows }: TerminalSize): boolean {
    const size = this.#terminal && this.deps.devices.size(this.#terminal);
    return !size || (size.cols === cols && size.rows === rows);
  }

  /** Queues an action behind the current one. */
  #next<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(act);
    this.#writing = done.catch(() => null); // The next action runs even if this one fails.
    return done;
  }

  /** Returns how many characters of the lines were taken. */
  async #write(lines: string, signal: AbortSignal): Promise<number> {
    const cut = this.#isCut ? cutLine : '';
    const from = this.child.stdin.accepted;
    const end = await this.child.writeStdin(from, Buffer.from(cut + lines), signal);
    if (end - from === cut.length + lines.length) this.#isCut = false;
    else this.#isCut ||= end > from;
    return Math.max(0, end - from - cut.length);
  }
}

/** Returns null if no note was stored. */
function typedBefore({ stdin }: Child, note: TypedNote | null): number | null {
  if (!note || note.from > stdin.accepted) return null;
  const written = stdin.accepted - note.from - (note.isCut ? cutLine.length : 0);
  return note.typed + typedWithin(written, note.count);
}
