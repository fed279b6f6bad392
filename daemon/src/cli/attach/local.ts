/** The local terminal of `boxkeep attach`: raw during the session, and restored on every way out. */
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import { TerminalModes } from './modes.ts';
import { standardError, standardInput, standardOutput, writeAll } from '../client/standard-streams.ts';

/** The operations of the system on the terminal of a process. */
export interface SystemTerminal {
  isTerminal(descriptor: number): boolean;
  size(descriptor: number): TerminalSize | null;
  /** Returns a function that restores the terminal. */
  makeRaw(descriptor: number): () => void;
}

/** The size of the terminal that shows the session or reads the input; null without a terminal. */
export function sizeOf(system: SystemTerminal): TerminalSize | null {
  const at = [standardOutput, standardInput].find((descriptor) => system.isTerminal(descriptor));
  return at === undefined ? null : system.size(at);
}

/** At exit, a blocked terminal is not waited for any longer than this. */
const lastWriteMs = 500;

export class LocalTerminal implements AsyncDisposable {
  readonly isInput: boolean;
  readonly isOutput: boolean;
  readonly #modes = new TerminalModes();
  #putBack: (() => void) | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #onResize: (() => void) | null = null;
  readonly #handlers: [NodeJS.Signals, () => void][] = [
    ['SIGWINCH', () => this.#onResize?.()],
    // A shell used the terminal while this process was stopped.
    ['SIGCONT', () => this.#resumed()],
  ];

  constructor(private readonly system: SystemTerminal) {
    this.isInput = system.isTerminal(standardInput);
    this.isOutput = system.isTerminal(standardOutput);
  }

  get size(): TerminalSize | null {
    return sizeOf(this.system);
  }

  enter(onResize: () => void): void {
    this.#onResize = onResize;
    for (const [name, handler] of this.#handlers) process.on(name, handler);
    process.on('exit', this.#leave);
    if (this.isInput) this.#putBack = this.system.makeRaw(standardInput);
  }

  /** Resolves when the bytes are written. */
  async show(bytes: Uint8Array): Promise<void> {
    if (this.isOutput) this.#modes.watch(bytes);
    const written = writeAll(standardOutput, bytes);
    this.#writing = written.catch(() => null); // The caller of `show` gets the error.
    await written;
  }

  /** Makes room for a whole screen by scrolling up the old content, which stays in the scrollback. */
  async clear(): Promise<void> {
    const rows = this.size?.rows;
    if (!this.isOutput || rows === undefined) return;
    await this.show(Buffer.concat([this.#modes.undo(), Buffer.from(`\u001b[${rows};1H${'\n'.repeat(rows)}\u001b[H`)]));
  }

  /** Writes one line over the last row of the screen. */
  async overlay(text: string): Promise<void> {
    const size = this.size;
    if (!size) return;
    const line = text.slice(0, size.cols);
    await this.show(Buffer.from(`\u001b7\u001b[${size.rows};1H\u001b[0;7m${line}\u001b[K\u001b8`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const undo = this.#modes.undo();
    const last = this.#writing.then(() => (undo.length === 0 ? null : writeAll(standardOutput, undo)));
    const late = new Promise((resolve) => setTimeout(resolve, lastWriteMs));
    await Promise.race([last.catch(() => null), late]); // The terminal has gone.
    this.#leave();
    process.removeListener('exit', this.#leave);
    for (const [name, handler] of this.#handlers) process.removeListener(name, handler);
  }

  readonly #leave = (): void => {
    this.#putBack?.();
    this.#putBack = null;
  };

  #resumed(): void {
    if (!this.#putBack) return;
    this.#putBack = this.system.makeRaw(standardInput);
    this.#onResize?.();
  }
}

/** Writes a message to standard error, outside the session; does not touch the modes of the terminal. */
export async function note(text: string): Promise<void> {
  await writeAll(standardError, Buffer.from(`[${text}]\n`)).catch(() => null); // No reader is left.
}
