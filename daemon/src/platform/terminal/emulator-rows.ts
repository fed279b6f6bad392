/** Renders emulator rows as the bytes that make a terminal show them. Each line begins and ends without a style. */
import type { IBuffer, IBufferCell, IBufferLine } from '@xterm/headless';

/** The look of a cell, as the emulator packs it. */
export interface Attributes {
  readonly fg: number;
  readonly bg: number;
  readonly extended: { readonly underlineStyle: number; readonly underlineColor: number };
}

const mode = 0x3_00_00_00;
const palette16 = 0x1_00_00_00;
const palette256 = 0x2_00_00_00;
/** Bits of `fg` and `bg` beside the colours, and the SGR number that sets each. */
const fgFlags = [
  [0x4_00_00_00, 7],
  [0x8_00_00_00, 1],
  [0x20_00_00_00, 5],
  [0x40_00_00_00, 8],
] as const;
const strikethrough = 0x80_00_00_00;
const underline = 0x10_00_00_00;
const bgFlags = [
  [0x4_00_00_00, 3],
  [0x8_00_00_00, 2],
  [0x40_00_00_00, 53],
] as const;
const hasExtended = 0x10_00_00_00;
/** The emulator's value for an underline colour that was reset. */
const noUnderlineColor = 0x3_ff_ff_ff;

/** Sets this style, independent of the style before. */
export function styleSequence({ fg, bg, extended }: Attributes): string {
  const codes: (number | string)[] = [0, ...color(withoutRests(fg), 30), ...color(withoutRests(bg), 40)];
  for (const [bit, code] of fgFlags) if (fg & bit) codes.push(code);
  for (const [bit, code] of bgFlags) if (bg & bit) codes.push(code);
  if (fg & strikethrough) codes.push(9);
  if (bg & hasExtended && extended.underlineStyle > 1) codes.push(`4:${extended.underlineStyle}`);
  else if (fg & underline) codes.push(4);
  if (bg & hasExtended) codes.push(...underlineColor(extended.underlineColor));
  return `\x1b[${codes.join(';')}m`;
}

function color(packed: number, base: 30 | 40): (number | string)[] {
  const value = packed & 0xff_ff_ff;
  switch (packed & mode) {
    case 0:
      return [];
    case palette16:
      return [value < 8 ? base + value : base + 60 + (value & 7)];
    case palette256:
      return [`${base + 8};5;${value & 255}`];
    default:
      return [`${base + 8};2;${value >> 16};${(value >> 8) & 255};${value & 255}`];
  }
}

function underlineColor(packed: number): string[] {
  const value = packed & 0xff_ff_ff;
  if ((packed & mode) === 0 || packed === noUnderlineColor) return [];
  if ((packed & mode) === mode) return [`58:2::${value >> 16}:${(value >> 8) & 255}:${value & 255}`];
  return [`58:5:${value & 255}`];
}

function isSameStyle(a: Attributes, b: Attributes): boolean {
  if (withoutRests(a.fg) !== withoutRests(b.fg)) return false;
  if (withoutRests(a.bg & ~hasExtended) !== withoutRests(b.bg & ~hasExtended)) return false;
  if (!((a.bg | b.bg) & hasExtended)) return true;
  return underlineOf(a) === underlineOf(b);
}

const underlineOf = ({ bg, extended }: Attributes) =>
  bg & hasExtended ? `${extended.underlineStyle}:${String(underlineColor(extended.underlineColor))}` : '';

/** The style of a reset terminal, and of the end of each line here. */
const plain: Attributes = { fg: 0, bg: 0, extended: { underlineStyle: 0, underlineColor: -1 } };

/** The public cell type hides fields of the emulator's own cell, such as the underline style. */
export function attributesOf(cell: IBufferCell): Attributes {
  return cell as unknown as Attributes;
}

/** An erased cell keeps only its background. */
export function backgroundOf(cell: IBufferCell): Attributes {
  return { ...plain, bg: attributesOf(cell).bg & (mode | 0xff_ff_ff) };
}

/** With palette colours, the emulator leaves bits of an earlier colour in place. */
function withoutRests(packed: number): number {
  const isPalette = (packed & mode) === palette16 || (packed & mode) === palette256;
  return isPalette ? packed & ~0xff_ff_00 : packed;
}

/**
 * The columns of a row that wraps into the next one. A wide character that does not fit leaves the last cell of its row
 * unwritten.
 */
export function wrappedLength(row: IBufferLine, next: IBufferLine, cell: IBufferCell): number {
  const isWideNext = (next.getCell(0, cell)?.getWidth() ?? 1) > 1;
  const last = row.getCell(row.length - 1, cell);
  return isWideNext && last?.getChars() === '' && last.getWidth() === 1 ? row.length - 1 : row.length;
}

/** Renders the rows from `first` up to `end` as one line: every row but the first continues a full row. */
export function lineText(buffer: IBuffer, first: number, end: number): string {
  const writer = new LineWriter(buffer);
  for (let y = first; y < end; y++) {
    const row = buffer.getLine(y);
    if (row) writer.addRow(row, y > first, y + 1 < end ? (buffer.getLine(y + 1) ?? null) : null);
  }
  return writer.end();
}

class LineWriter {
  #text = '';
  #style: Attributes = plain;
  /** The style of the last cell in the previous row, when a blank was typed there only to wrap into this row. */
  #filled: Attributes | null = null;
  readonly #cell: IBufferCell;
  readonly #other: IBufferCell;

  constructor(buffer: IBuffer) {
    this.#cell = buffer.getNullCell();
    this.#other = buffer.getNullCell();
  }

  addRow(row: IBufferLine, isContinued: boolean, next: IBufferLine | null): void {
    let x = isContinued ? this.#wrapInto(row) : 0;
    const end = this.#contentEnd(row, next);
    let blanks = 0;
    while (x < end) {
      const cell = row.getCell(x, this.#cell);
      if (!cell) break;
      const isBlank = cell.getChars() === '';
      // What is left of a wide character that was cut is as narrow as any other blank.
      x += Math.max(1, cell.getWidth());
      const style = isBlank ? backgroundOf(cell) : attributesOf(cell);
      if (!isBlank || !isSameStyle(style, this.#style)) {
        this.#skip(blanks);
        blanks = 0;
        this.#setStyle(style);
      }
      if (isBlank) blanks++;
      else this.#text += cell.getChars();
    }
    if (next && blanks > 0 && end === row.length) this.#fill(blanks);
    else this.#skip(blanks);
  }

  end(): string {
    this.#setStyle(plain);
    return this.#text;
  }

  /** Blank cells are erased, not overwritten with spaces. */
  #skip(blanks: number): void {
    if (blanks > 0) this.#text += `${this.#style.bg === 0 ? '' : `\x1b[${blanks}X`}\x1b[${blanks}C`;
  }

  /** Only a character in the last cell makes the next character wrap. The blank that is typed here is erased later. */
  #fill(blanks: number): void {
    this.#skip(blanks - 1);
    this.#text += ' ';
    this.#filled = this.#style;
  }

  /** Writes the first character, which wraps into this row by itself. Returns the column after it. */
  #wrapInto(row: IBufferLine): number {
    const cell = row.getCell(0, this.#cell);
    if (!cell) return 0;
    const isBlank = cell.getChars() === '';
    const style = isBlank ? backgroundOf(cell) : copyOf(attributesOf(cell));
    const width = Math.max(1, cell.getWidth());
    this.#setStyle(style);
    this.#text += cell.getChars() || ' ';
    if (isBlank) this.#text += '\r\x1b[X\x1b[C';
    // A row that scrolls in takes the background of the character that caused the scroll.
    if (style.bg !== 0) {
      this.#setStyle(plain);
      this.#text += '\x1b[K';
    }
    if (this.#filled) {
      this.#setStyle(this.#filled);
      this.#text += `\x1b[A\x1b[${row.length}G\x1b[X\x1b[B\x1b[${width + 1}G`;
      this.#filled = null;
    }
    return width;
  }

  /** The column after the last content. A row that wraps is written up to its end. */
  #contentEnd(row: IBufferLine, next: IBufferLine | null): number {
    let end = row.length;
    if (next) return wrappedLength(row, next, this.#other);
    for (; end > 0; end--) {
      const cell = row.getCell(end - 1, this.#other);
      if (!cell || cell.getChars() !== '' || backgroundOf(cell).bg !== 0) break;
    }
    return end;
  }

  #setStyle(style: Attributes): void {
    if (isSameStyle(style, this.#style)) return;
    this.#text += isSameStyle(style, plain) ? '\x1b[0m' : styleSequence(style);
    this.#style = copyOf(style);
  }
}

/** Copies the style, because the emulator reuses the cell object. */
function copyOf({ fg, bg, extended: { underlineStyle, underlineColor: lineColor } }: Attributes): Attributes {
  return { fg, bg, extended: { underlineStyle, underlineColor: lineColor } };
}
