/** A headless terminal emulator: terminal output goes in, the screen comes out. */
import { setImmediate as turn } from 'node:timers/promises';
import type { IBuffer, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import { lineText, wrappedLength } from './emulator-rows.ts';
import { beginFirstRow, cleanUp, fixEmulator } from './emulator-fixes.ts';
import { coreOf, hiddenStateText, stateText } from './emulator-state.ts';
import { registerWidths } from './emulator-widths.ts';

export interface EmulatedScreen extends TerminalSize {
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean };
  /** The rows of the screen, without trailing blanks. */
  readonly lines: readonly string[];
  /** Scrollback and screen as text. Rows that wrapped are joined into one line. */
  readonly text: string;
  readonly isAltScreen: boolean;
  /** null until a program sets a title. */
  readonly title: string | null;
  readonly scrollbackLines: number;
  /** True when the scrollback was full and dropped rows. */
  readonly hasLostRows: boolean;
}

export interface SerializeLimits {
  readonly scrollbackRows: number;
  /** The oldest scrollback rows are left out first; the screen is always complete. */
  readonly maxBytes: number;
}

/** One caller at a time: nothing may be written during a read. */
export interface Emulator extends Disposable {
  write(bytes: Uint8Array): void;
  resize(size: TerminalSize): void;
  read(): Promise<EmulatedScreen>;
  /** The bytes that bring a freshly reset terminal of the same size into this state. */
  serialize(limits: SerializeLimits): Promise<string>;
  readonly title: string | null;
}

/** `keepsText` keeps rows that leave the scrollback in `text`, which takes more time than dropping them. */
export type OpenEmulator = (size: TerminalSize, options?: { readonly keepsText: boolean }) => Promise<Emulator>;

/** Scrollback is bounded in cells, because cells take the memory: twelve bytes each. */
const scrollbackCells = 160_000;
const maxScrollbackRows = 5000;
const maxHistoryCharacters = 8 * 1024 * 1024;
/** Rows converted to text before the event loop runs other work. */
const rowsAtOnce = 256;
const longestTitle = 1024;

/** Replies of the emulator to programs are dropped. See `Screens`. */
export const openEmulator: OpenEmulator = async ({ cols, rows }, { keepsText } = { keepsText: false }) => {
  const { default: headless } = await import('@xterm/headless');
  const options = { cols, rows, scrollback: scrollbackRows(cols) };
  const terminal = new headless.Terminal({ ...options, allowProposedApi: true, logLevel: 'off' });
  registerWidths(terminal);
  fixEmulator(terminal);
  let title: string | null = null;
  const history = keepsText ? new History(terminal) : null;
  let hasLostRows = false;
  const noteLoss = () => {
    hasLostRows ||= history === null && terminal.buffer.normal.baseY >= (terminal.options.scrollback ?? 0);
  };
  terminal.onTitleChange((text) => (title = text.slice(0, longestTitle)));
  return {
    get title() {
      return title;
    },
    write(bytes) {
      if (history) history.write(bytes);
      else {
        parse(terminal, bytes);
        beginFirstRow(terminal);
      }
      noteLoss();
    },
    resize(size) {
      noteLoss();
      terminal.options.scrollback = scrollbackRows(size.cols);
      terminal.resize(size.cols, size.rows);
      cleanUp(terminal);
    },
    read: async () => ({ ...(await readScreen(terminal, history?.rows ?? [])), title, hasLostRows }),
    serialize: (limits) => serialize(terminal, title, limits),
    [Symbol.dispose]: () => terminal.dispose(),
  };
};

/** Bypasses the emulator's write queue: an exception in that queue cannot be caught. */
function parse(terminal: Terminal, bytes: Uint8Array): void {
  const { _inputHandler } = coreOf(terminal);
  try {
    _inputHandler.parse(bytes);
  } catch {
    _inputHandler._parser.reset(); // A bug in the emulator; the rest of these bytes does not reach the screen.
  }
}

function scrollbackRows(cols: number): number {
  return Math.min(maxScrollbackRows, Math.floor(scrollbackCells / cols));
}

async function readScreen(
  terminal: Terminal,
  above: readonly string[],
): Promise<Omit<EmulatedScreen, 'title' | 'hasLostRows'>> {
  const { cols, rows, buffer } = terminal;
  const { active, normal } = buffer;
  const text = new TextRows([...above], normal);
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

/** Saves scrollback rows as text before the emulator drops them. */
class History {
  #rows: string[] = [];
  #characters = 0;

  constructor(private readonly terminal: Terminal) {
    // Text that a program erases is not kept either.
    terminal.parser.registerCsiHandler({ final: 'J' }, ([part]) => part === 3 && this.#clear());
    terminal.parser.registerEscHandler({ final: 'c' }, () => this.#clear());
  }

  get rows(): readonly string[] {
    return this.#rows;
  }

  /** One byte scrolls at most one row, so no row is dropped between two checks. */
  write(bytes: Uint8Array): void {
    const rowsAhead = Math.max(1, Math.floor((this.terminal.options.scrollback ?? 0) / 2));
    for (let at = 0; at < bytes.length; at += rowsAhead) {
      parse(this.terminal, bytes.subarray(at, at + rowsAhead));
      if (this.terminal.buffer.normal.baseY > rowsAhead) this.#take();
    }
  }

  #take(): void {
    const { active, normal } = this.terminal.buffer;
    if (active.type !== 'normal') return; // The alternate screen has no scrollback.
    const text = new TextRows(this.#rows, normal);
    for (let y = 0; y < normal.baseY; y++) this.#characters += text.addRow(normal, y);
    coreOf(this.terminal)._inputHandler.eraseInDisplay({ params: [3] });
    while (this.#characters > maxHistoryCharacters) this.#characters -= this.#rows.shift()?.length ?? 0;
  }

  #clear(): false {
    this.#rows = [];
    this.#characters = 0;
    return false;
  }
}

/** Joins rows into the lines that a program wrote. */
class TextRows {
  constructor(
    private readonly lines: string[],
    /** The buffer that the last of these lines came from. */
    private before: IBuffer,
  ) {}

  async add(buffer: IBuffer, first: number, end: number): Promise<void> {
    for (let y = first; y < end; y++) {
      if (y % rowsAtOnce === 0) await turn();
      this.addRow(buffer, y);
    }
  }

  /** Returns the number of characters added. */
  addRow(buffer: IBuffer, y: number): number {
    const row = buffer.getLine(y);
    if (!row) return 0;
    // Past its end, the emulator's list of rows begins again.
    const next = y + 1 < buffer.length ? buffer.getLine(y + 1) : undefined;
    const text = next?.isWrapped
      ? row.translateToString(false, 0, wrappedLength(row, next, buffer.getNullCell()))
      : row.translateToString(true);
    const isContinued = row.isWrapped && this.lines.length > 0 && this.before === buffer;
    if (isContinued) this.lines[this.lines.length - 1] += text;
    else this.lines.push(text);
    this.before = buffer;
    return text.length;
  }

  /** All lines, without the unwritten rows at the bottom. */
  get whole(): string {
    const last = this.lines.findLastIndex((line) => line !== '');
    return this.lines.slice(0, last + 1).join('\n');
  }
}

async function serialize(terminal: Terminal, title: string | null, limits: SerializeLimits): Promise<string> {
  const { active, normal } = terminal.buffer;
  const state = stateText(terminal, title);
  if (active === normal || active.type === 'normal') {
    return `${await rowsText(terminal, normal, { ...limits, maxBytes: limits.maxBytes - state.length })}${state}`;
  }
  const shown = await rowsText(terminal, active, { scrollbackRows: 0, maxBytes: 0 });
  // The other screen begins with the background of the cursor that is saved, so it is cleared.
  const rest = `${hiddenStateText(terminal)}\x1b[?1049h\x1b[0m\x1b[2J\x1b[H${shown}${state}`;
  const room = limits.maxBytes - Buffer.byteLength(rest);
  return `${await rowsText(terminal, normal, { ...limits, maxBytes: room })}${rest}`;
}

/**
 * Renders from the last line upwards until the byte limit is reached. Blank rows at the end are left out, so that a
 * smaller terminal shows the rows above them.
 */
async function rowsText({ rows }: Terminal, buffer: IBuffer, limits: SerializeLimits): Promise<string> {
  const lines: string[] = [];
  const oldest = Math.max(0, buffer.baseY - limits.scrollbackRows);
  let room = limits.maxBytes;
  let end = buffer.baseY + rows;
  let linesOnScreen = 0;
  while (end > oldest) {
    if (lines.length % rowsAtOnce === rowsAtOnce - 1) await turn();
    let first = end - 1;
    while (first > oldest && buffer.getLine(first)?.isWrapped) first--;
    const line = lineText(buffer, first, end);
    room -= Buffer.byteLength(line) + 2;
    if (room < 0 && end <= buffer.baseY) break;
    lines.push(line);
    end = first;
    if (end >= buffer.baseY) linesOnScreen = lines.length;
  }
  const blankLines = lines.findIndex((line) => line !== '');
  // A line that begins above the screen cannot be placed on it.
  const isSplit = end < buffer.baseY && buffer.getLine(buffer.baseY)?.isWrapped === true;
  if (blankLines <= 0 || blankLines >= linesOnScreen || isSplit) return lines.reverse().join('\r\n');
  const screen = lines.slice(blankLines, linesOnScreen).reverse().join('\r\n');
  const above = lines.slice(linesOnScreen).reverse().join('\r\n');
  return lines.length === linesOnScreen ? screen : `${above}${'\r\n'.repeat(rows)}\x1b[H${screen}`;
}
