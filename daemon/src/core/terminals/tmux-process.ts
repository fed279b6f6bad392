/** One session in tmux while it lives: the lines that its server is given, and the pid that this has told. */
import type { Child, ChildEnd } from '../../platform/spawn.ts';
import type { ShellProcess } from './shell-process.ts';
import type { TerminalSize } from './terminal-size.ts';
import { cutLine, pauseLine, resizeLine, resumeLine, typedLineBytes, typeLine } from './tmux-lines.ts';
import { pidLine } from './tmux-script.ts';

const mostErrorBytes = 4096;
/** Lines that are written in one go; a change of the size may come between two of them. */
const linesAtOnce = 32;

export class TmuxProcess implements ShellProcess {
  readonly backend = 'tmux';
  #pid: number | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  /** An earlier daemon may have left the beginning of a line behind. */
  #isCut: boolean;

  constructor(readonly child: Child) {
    this.#isCut = child.stdin.accepted > 0;
  }

  get pid(): number | null {
    this.#pid ??= Number(pidLine.exec(this.errors())?.[1] ?? 0) || null;
    return this.#pid;
  }

  get end(): ChildEnd | null {
    return this.child.end;
  }

  /** False when it has not begun when the signal aborts, or can no more. */
  async started(signal: AbortSignal): Promise<boolean> {
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
    while (taken < bytes.length && !signal.aborted) {
      const lines = [];
      for (let at = taken; at < bytes.length && lines.length < linesAtOnce; at += typedLineBytes) {
        lines.push(typeLine(bytes.subarray(at, at + typedLineBytes)));
      }
      const whole = await this.#write(lines, signal);
      taken = Math.min(bytes.length, taken + whole * typedLineBytes);
      if (whole < lines.length) break;
    }
    return taken;
  }

  resize(size: TerminalSize): void {
    void this.#write([resizeLine(size)]);
  }

  pause(): void {
    void this.#write([pauseLine]);
  }

  resume(): void {
    void this.#write([resumeLine]);
  }

  /** Behind what is being written; answers how many of the lines were taken as a whole. */
  #write(lines: readonly string[], signal?: AbortSignal): Promise<number> {
    const written = this.#writing.then(() => this.#writeNow(lines, signal));
    this.#writing = written.catch(() => null); // The next one writes, whatever became of this one.
    return written;
  }

  async #writeNow(lines: readonly string[], signal?: AbortSignal): Promise<number> {
    const all = this.#isCut ? [cutLine, ...lines] : lines;
    const from = this.child.stdin.accepted;
    const end = await this.child.writeStdin(from, Buffer.from(all.join('')), signal);
    let rest = end - from;
    const whole = all.findIndex((line) => (rest -= line.length) < 0);
    if (whole === -1) this.#isCut = false;
    else this.#isCut ||= end > from;
    const count = whole === -1 ? all.length : whole;
    return Math.max(0, count - (all.length - lines.length));
  }
}
