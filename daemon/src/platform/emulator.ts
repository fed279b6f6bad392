/** A terminal emulator without a window: what a terminal is sent in, its screen out. Loaded with the first look at one. */
import { setImmediate as turn } from 'node:timers/promises';
import type { IBuffer, Terminal } from '@xterm/headless';
import { lineText } from './emulator-rows.ts';
import { cleanUp, mend } from './emulator-mends.ts';
import { coreOf, hiddenStateText, stateText } from './emulator-state.ts';
import { registerWidths } from './emulator-widths.ts';

export interface EmulatorSize {
  readonly cols: number;
  readonly rows: number;
}

export interface EmulatedScreen extends EmulatorSize {
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean };
  /** The rows of the screen, without blanks at their ends. */
  readonly lines: readonly string[];
  /** Scrollback and screen; what goes on in the next row for want of room is one line. */
  readonly text: string;
  readonly isAltScreen: boolean;
  /** null before a program has set one. */
  readonly title: string | null;
  readonly scrollbackLines: number;
}

export interface SerializeLimits {
  readonly scrollbackRows: number;
  /** The oldest rows of scrollback are left out first; the screen is always whole. */
  readonly maxBytes: number;
}

/** One caller at a time: while it is read, nothing may be written. */
export interface Emulator extends Disposable {
  write(bytes: Uint8Array): void;
  resize(size: EmulatorSize): void;
  read(): Promise<EmulatedScreen>;
  /** What brings a terminal of the same size that was reset to this state. */
  serialize(limits: SerializeLimits): Promise<string>;
  readonly title: string | null;
}

export type OpenEmulator = (size: EmulatorSize) => Promise<Emulator>;

/** Scrollback is bounded in cells, which are what takes memory: twelve bytes each. */
const scrollbackCells = 160_000;
const mostScrollbackRows = 5000;
/** Rows that are turned into text before others have their turn. */
const rowsAtOnce = 256;
const longestTitle = 1024;

/** What it would answer a program goes nowhere. See `Screens`. */
export const openEmulator: OpenEmulator = async ({ cols, rows }) => {
  const { default: headless } = await import('@xterm/headless');
  const options = { cols, rows, scrollback: scrollbackRows(cols) };
  const terminal = new headless.Terminal({ ...options, allowProposedApi: true, logLevel: 'off' });
  registerWidths(terminal);
  mend(terminal);
  let title: string | null = null;
  terminal.onTitleChange((text) => (title = text.slice(0, longestTitle)));
  return {
    get title() {
      return title;
    },
    write: (bytes) => parse(terminal, bytes),
    resize(size) {
      terminal.options.scrollback = scrollbackRows(size.cols);
      terminal.resize(size.cols, size.rows);
      cleanUp(terminal);
    },
    read: async () => ({ ...(await readScreen(terminal)), title }),
    serialize: (limits) => serialize(terminal, title, limits),
    [Symbol.dispose]: () => terminal.dispose(),
  };
};

/** Not through the queue of the emulator: what fails in there, fails where nobody can catch it. */
function parse(terminal: Terminal, bytes: Uint8Array): void {
  const { _inputHandler } = coreOf(terminal);
  try {
    _inputHandler.parse(bytes);
  } catch {
    _inputHandler._parser.reset(); // A mistake of the emulator: the rest of these bytes is missing on the screen.
  }
}

function scrollbackRows(cols: number): number {
  return Math.min(mostScrollbackRows, Math.floor(scrollbackCells / cols));
}

async function readScreen(terminal: Terminal): Promise<Omit<EmulatedScreen, 'title'>> {
  const { cols, rows, buffer } = terminal;
  const { active, normal } = buffer;
  const text = new TextRows();
  await text.add(normal, 0, normal.baseY);
  await text.add(active, active.baseY, active.baseY + rows);
  const lines = Array.from({ length: rows }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '');
  return {
    cols,
    rows,
    cursor: {
      x: Math.min(active.cursorX, cols - 1),
      y: active.cursorY,
      isVisible: !coreOf(terminal).coreService.isCursorHidden,
    },
    lines,
    text: text.whole,
    isAltScreen: active.type === 'alternate',
    scrollbackLines: normal.baseY,
  };
}

/** Rows as the lines that a program wrote. */
class TextRows {
  readonly #lines: string[] = [];
  #before: IBuffer | null = null;

  async add(buffer: IBuffer, first: number, end: number): Promise<void> {
    for (let y = first; y < end; y++) {
      if (y % rowsAtOnce === 0) await turn();
      const row = buffer.getLine(y);
      if (!row) continue;
      const text = row.translateToString(!buffer.getLine(y + 1)?.isWrapped);
      const isContinued = row.isWrapped && this.#lines.length > 0 && (y > first || this.#before === buffer);
      if (isContinued) this.#lines[this.#lines.length - 1] += text;
      else this.#lines.push(text);
    }
    this.#before = buffer;
  }

  /** Rows below the last one that was written are no lines. */
  get whole(): string {
    const last = this.#lines.findLastIndex((line) => line !== '');
    return this.#lines.slice(0, last + 1).join('\n');
  }
}

async function serialize(terminal: Terminal, title: string | null, limits: SerializeLimits): Promise<string> {
  const { active, normal } = terminal.buffer;
  const state = stateText(terminal, title);
  if (active === normal || active.type === 'normal') {
    return `${await rowsText(terminal, normal, { ...limits, maxBytes: limits.maxBytes - state.length })}${state}`;
  }
  const shown = await rowsText(terminal, active, { scrollbackRows: 0, maxBytes: 0 });
  const rest = `${hiddenStateText(terminal)}\x1b[?1049h\x1b[0m\x1b[H${shown}${state}`;
  const room = limits.maxBytes - Buffer.byteLength(rest);
  return `${await rowsText(terminal, normal, { ...limits, maxBytes: room })}${rest}`;
}

/** From the last line upwards, as far as there is room. */
async function rowsText({ rows }: Terminal, buffer: IBuffer, limits: SerializeLimits): Promise<string> {
  const lines: string[] = [];
  const oldest = Math.max(0, buffer.baseY - limits.scrollbackRows);
  let room = limits.maxBytes;
  let end = buffer.baseY + rows;
  while (end > oldest) {
    if (lines.length % rowsAtOnce === rowsAtOnce - 1) await turn();
    let first = end - 1;
    while (first > oldest && buffer.getLine(first)?.isWrapped) first--;
    const line = lineText(buffer, first, end);
    room -= Buffer.byteLength(line) + 2;
    if (room < 0 && end <= buffer.baseY) break;
    lines.push(line);
    end = first;
  }
  return lines.reverse().join('\r\n');
}
