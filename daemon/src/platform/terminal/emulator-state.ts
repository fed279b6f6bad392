/** Renders the emulator's state beside its rows as terminal input: cursor, modes, margins and tab stops. */
import type { IBuffer, Terminal } from '@xterm/headless';
import { attributesOf, backgroundOf, styleSequence, type Attributes } from './emulator-rows.ts';

/** Internal parts that the emulator's public API does not expose. A test checks them against the pinned version. */
export interface EmulatorCore {
  readonly buffer: CoreBuffer;
  readonly buffers: { readonly normal: CoreBuffer; readonly alt: CoreBuffer };
  readonly coreService: {
    isCursorHidden: boolean;
    readonly decPrivateModes: {
      readonly cursorStyle?: string;
      readonly cursorBlink?: boolean;
      readonly wraparound: boolean;
    };
  };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _inputHandler: Record<CountedMethod, (counted: { readonly params: number[] }) => boolean> & {
    readonly _curAttrData: Attributes;
    readonly _parser: { reset(): void };
    saveCursor: (...args: unknown[]) => boolean;
    restoreCursor: (...args: unknown[]) => boolean;
    _moveCursor: (x: number, y: number) => void;
    _restrictCursor(): void;
    print: (...args: unknown[]) => void;
    _setCursor(x: number, y: number): void;
    parse(bytes: Uint8Array): void;
    eraseInDisplay(params: { readonly params: readonly number[] }): void;
  };
  readonly _charsetService: { readonly glevel: number; readonly _charsets: readonly Charset[] };
}

/** The methods that loop over a count. */
export type CountedMethod =
  | 'insertLines'
  | 'deleteLines'
  | 'scrollUp'
  | 'scrollDown'
  | 'cursorForwardTab'
  | 'cursorBackwardTab'
  | 'repeatPrecedingCharacter';

type Charset = Readonly<Record<string, string>> | undefined;

interface CoreRow {
  isWrapped: boolean;
  getWidth(x: number): number;
  setCellFromCodepoint(x: number, codePoint: number, width: number, style: Attributes): void;
}

interface CoreBuffer {
  readonly lines: { get(index: number): CoreRow | undefined };
  readonly ybase: number;
  x: number;
  readonly y: number;
  readonly savedX: number;
  savedY: number;
  /** Set by this project: the screen row of the saved cursor. */
  savedRow?: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Readonly<Record<number, boolean>>;
  /** Work that the emulator postpones after it was made smaller. */
  readonly _memoryCleanupQueue: { flush(): void; readonly _tasks: readonly unknown[] };
}

export function coreOf(terminal: Terminal): EmulatorCore {
  return (terminal as unknown as { _core: EmulatorCore })._core;
}

const tabWidth = 8;
const mouseModes = { x10: '9', vt200: '1000', drag: '1002', any: '1003', none: '' };
const mouseEncodings: Readonly<Record<string, string>> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' };
const cursorStyles: Readonly<Record<string, number>> = { block: 2, underline: 4, bar: 6 };

/** Written after the rows. Cursor positions come before the modes that change how input is interpreted. */
export function stateText(terminal: Terminal, title: string | null): string {
  const core = coreOf(terminal);
  return [
    marginsAndTabs(terminal, core.buffer),
    savedCursor(terminal, core.buffer),
    cursor(terminal, core),
    charsets(core),
    modes(terminal, core),
    title === null ? '' : `\x1b]2;${title}\x1b\\`,
  ].join('');
}

/** State of the hidden screen: where its cursor goes when that screen returns. */
export function hiddenStateText(terminal: Terminal): string {
  const { normal } = coreOf(terminal).buffers;
  const saved = placeIn(terminal.buffer.normal, terminal.cols, normal.savedX, savedRow(normal));
  return `${saved}${styleSequence(normal.savedCurAttrData)}`;
}

function marginsAndTabs({ cols, rows }: Terminal, { scrollTop, scrollBottom, tabs }: CoreBuffer): string {
  const stops = Array.from({ length: cols }, (_, x) => x).filter((x) => tabs[x]);
  const isUsual = stops.length === Math.ceil(cols / tabWidth) && stops.every((x) => x % tabWidth === 0);
  const setStops = stops.map((x) => `${place(x, 0)}\x1bH`).join('');
  const hasMargins = scrollTop !== 0 || scrollBottom !== rows - 1;
  return `${isUsual ? '' : `\x1b[3g${setStops}`}${hasMargins ? `\x1b[${scrollTop + 1};${scrollBottom + 1}r` : ''}`;
}

function savedCursor({ cols, buffer: { active } }: Terminal, buffer: CoreBuffer): string {
  const { savedX, savedCurAttrData: style } = buffer;
  const hasGraphics = isGraphics(buffer.savedCharset);
  if (savedX === 0 && savedRow(buffer) === 0 && style.fg === 0 && style.bg === 0 && !hasGraphics) return '';
  const save = hasGraphics ? '\x1b(0\x1b7\x1b(B' : '\x1b7';
  const row = savedRow(buffer);
  const last = active.getLine(active.baseY + row)?.getCell(cols - 1);
  // A cursor behind the last column is there because a blank was typed.
  const isTyped = savedX >= cols && last?.getChars() === '' && last.getWidth() === 1;
  const erased = isTyped ? `${place(cols - 1, row)}${styleSequence(backgroundOf(last))}\x1b[X` : '';
  return `${placeIn(active, cols, savedX, row)}${styleSequence(style)}${save}${erased}`;
}

function cursor(terminal: Terminal, { buffer, _inputHandler }: EmulatorCore): string {
  const { originMode } = terminal.modes;
  const y = originMode ? buffer.y - buffer.scrollTop : buffer.y;
  const style = styleSequence(_inputHandler._curAttrData);
  const origin = originMode ? '\x1b[?6h' : '';
  return `${origin}${placeIn(terminal.buffer.active, terminal.cols, buffer.x, buffer.y, y)}${style}`;
}

/**
 * Moves to a place on the screen of a buffer; `y` is the row that the sequence names. When the next character would
 * wrap, the last character of the row is written again. A row that is completely blank is then erased.
 */
function placeIn(buffer: IBuffer, cols: number, x: number, screenRow: number, y = screenRow): string {
  if (x < cols) return place(x, y);
  const row = buffer.getLine(buffer.baseY + screenRow);
  const isWide = row?.getCell(cols - 1)?.getWidth() === 0;
  const last = row?.getCell(isWide ? cols - 2 : cols - 1) ?? buffer.getNullCell();
  const written = `${place(cols - (isWide ? 2 : 1), y)}${styleSequence(attributesOf(last))}${last.getChars() || ' '}`;
  return last.getChars() === '' && row?.translateToString(true) === '' ? `${written}\x1b[2K` : written;
}

/** Line drawing is the only character set that programs still use. */
const isGraphics = (charset: Charset) => charset?.['q'] === '─';

function charsets({ _charsetService: { glevel, _charsets } }: EmulatorCore): string {
  const designated = ['(', ')', '*', '+'].map((slot, g) => (isGraphics(_charsets[g]) ? `\x1b${slot}0` : ''));
  return `${designated.join('')}${['', '\x0e', '\x1bn', '\x1bo'][glevel] ?? ''}`;
}

function modes(terminal: Terminal, { coreService, coreMouseService }: EmulatorCore): string {
  const { modes: is, options } = terminal;
  const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
  const shape = cursorStyle === undefined ? 0 : (cursorStyles[cursorStyle] ?? 0) - (cursorBlink ? 1 : 0);
  const mouse = mouseModes[is.mouseTrackingMode];
  return [
    is.applicationCursorKeysMode ? '\x1b[?1h' : '',
    is.applicationKeypadMode ? '\x1b=' : '',
    is.bracketedPasteMode ? '\x1b[?2004h' : '',
    is.reverseWraparoundMode ? '\x1b[?45h' : '',
    is.sendFocusMode ? '\x1b[?1004h' : '',
    mouse === '' ? '' : `\x1b[?${mouse}h`,
    mouseEncodings[coreMouseService.activeEncoding] ?? '',
    shape === 0 ? '' : `\x1b[${shape} q`,
    options.convertEol ? '\x1b[20h' : '',
    is.insertMode ? '\x1b[4h' : '',
    is.wraparoundMode ? '' : '\x1b[?7l',
    coreService.isCursorHidden ? '\x1b[?25l' : '',
  ].join('');
}

const savedRow = (buffer: CoreBuffer) => buffer.savedRow ?? 0;

/** Columns and rows start at 0, as in the emulator. */
function place(x: number, y: number): string {
  return `\x1b[${y + 1};${x + 1}H`;
}
