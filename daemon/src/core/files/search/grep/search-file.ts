/** Searches one file piece by piece, with the lines around each match, whatever the size of the file. */
import { decodeUtf8 } from '../../../../kit/text/text.ts';
import { encodePath } from '../../../../kit/text/path-text.ts';
import type { TextPiece } from './file-text.ts';
import { findBlocks, firstMatch, lineEnd, type Block } from './find-blocks.ts';
import {
  type GrepMatch,
  type GrepQuery,
  lengthOf,
  maxFoundLength,
  PatternError,
  showLines,
  showLongLine,
  showMatch,
} from './query.ts';

/** How far a binary file is searched for one match. */
const maxBinaryLength = 64 * 1024 * 1024;
/** A match in a long line may begin this many characters before the part that completes it. */
const overlapLength = 64 * 1024;
/** Enough of a long line to show its beginning. */
const headLength = 4096;

type MutableMatch = GrepMatch & { readonly after: string[] };

export class FileSearch {
  readonly #matches: MutableMatch[] = [];
  /** Number of the line that the next piece begins with. */
  #line = 1;
  /** The last lines, as many as a match shows before itself. */
  #before: string[] = [];
  /** Matches that still lack lines after them. */
  #incomplete: MutableMatch[] = [];
  #long: LongLine | null = null;
  /** Length of all matches, with those of the files before. */
  #length: number;
  #binaryLength = 0;
  #isBinary = false;
  #hasBinaryMatch = false;

  constructor(
    private readonly path: string,
    private readonly regex: RegExp,
    private readonly query: GrepQuery,
    /** The matches of the files before. */
    private readonly earlier: { readonly count: number; readonly length: number },
  ) {
    this.#length = earlier.length;
  }

  /** None in a binary file. */
  get matches(): readonly GrepMatch[] {
    return this.#isBinary ? [] : this.#matches;
  }

  /** Whether the file is binary and matches, or is too large to be sure that it does not. */
  get isBinaryMatch(): boolean {
    return this.#isBinary && (this.#hasBinaryMatch || this.#binaryLength > maxBinaryLength);
  }

  /** Length of all matches up to here. */
  get length(): number {
    return this.#isBinary ? this.earlier.length : this.#length;
  }

  /** Whether the matches together are too long for more of them. */
  get isCut(): boolean {
    return this.length > maxFoundLength;
  }

  /** Returns false when the rest of the file changes nothing. */
  add(piece: TextPiece): boolean {
    if (piece.hasNul && !this.#isBinary) {
      this.#isBinary = true;
      this.#hasBinaryMatch = this.#matches.length > 0 || (this.#long?.isMatched ?? false);
    }
    if (this.#isBinary) return this.#lookIntoBinary(piece.text);
    if (piece.startsLine && piece.endsLine) this.#addLines(piece.text);
    else this.#addPart(piece);
    return true;
  }

  /** As ripgrep does, a NUL byte counts as the end of a line. */
  #lookIntoBinary(text: string): boolean {
    this.#binaryLength += text.length;
    const { path, regex } = this;
    const searched = { path, regex, isMultiline: this.query.isMultiline, limit: 1 };
    try {
      this.#hasBinaryMatch ||= findBlocks(text.replaceAll('\0', '\n'), searched).length > 0;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#hasBinaryMatch = true; // The pattern is too slow for this file, which may match and is not refused for it.
    }
    return !this.#hasBinaryMatch && this.#binaryLength <= maxBinaryLength;
  }

  #addLines(text: string): void {
    this.#complete(() => linesAfter(text, 0, this.query.linesAfter));
    const { path, regex, query } = this;
    const searched = { path, regex, isMultiline: query.isMultiline, limit: this.#room };
    let counted = 0;
    const countTo = (at: number): void => {
      for (let end = text.indexOf('\n', counted); end !== -1 && end < at; end = text.indexOf('\n', counted)) {
        this.#line += 1;
        counted = end + 1;
      }
    };
    if (searched.limit > 0) {
      for (const block of findBlocks(text, searched)) {
        countTo(block.from);
        this.#push(this.#matchOf(text, block));
      }
    }
    countTo(text.length);
    this.#before = this.#linesBefore(text, text.length);
  }

  #matchOf(text: string, { from, to, at }: Block): MutableMatch {
    const place = { path: this.path, lineNumber: this.#line };
    if (this.#isPassedOver) return { ...place, content: '', before: [], after: [] };
    return {
      ...place,
      content: showMatch(shown(text.slice(from, to)), shown(text.slice(from, at)).length, this.query),
      before: this.#linesBefore(text, from),
      after: linesAfter(text, to, this.query.linesAfter),
    };
  }

  #addPart({ text, startsLine, endsLine }: TextPiece): void {
    const { path, regex } = this;
    const long = startsLine ? new LongLine() : (this.#long ?? new LongLine());
    this.#long = long;
    long.add(text, endsLine, (window, from) => firstMatch(window, from, { path, regex }));
    if (!endsLine) return;
    this.#long = null;
    const content = showLongLine(shown(long.head), long.length);
    this.#complete(() => [content]);
    if (long.isMatched && this.#room > 0) {
      this.#push({ path, lineNumber: this.#line, content, before: this.#before, after: [] });
    }
    this.#line += 1;
    this.#before = [...this.#before, content].slice(-this.query.linesBefore);
    if (this.query.linesBefore === 0) this.#before = [];
  }

  get #room(): number {
    return this.isCut ? 0 : this.query.limit - this.#count;
  }

  get #count(): number {
    return this.earlier.count + this.#matches.length;
  }

  get #isPassedOver(): boolean {
    return this.#count < this.query.offset;
  }

  #push(match: MutableMatch): void {
    if (this.#room <= 0) return;
    const isWhole = this.#isPassedOver || match.after.length >= this.query.linesAfter;
    this.#matches.push(match);
    this.#length += lengthOf(match);
    if (!isWhole) this.#incomplete.push(match);
  }

  /** Gives the next lines to the matches that lack lines after them. */
  #complete(next: () => readonly string[]): void {
    if (this.#incomplete.length === 0) return;
    const lines = next();
    for (const match of this.#incomplete) {
      this.#length -= lengthOf(match);
      match.after.push(...lines.slice(0, this.query.linesAfter - match.after.length));
      this.#length += lengthOf(match);
    }
    this.#incomplete = this.#incomplete.filter(({ after }) => after.length < this.query.linesAfter);
  }

  #linesBefore(text: string, from: number): string[] {
    const { linesBefore: count } = this.query;
    const lines: string[] = [];
    for (let end = from; end > 0 && lines.length < count;) {
      const start = end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
      lines.unshift(showLines(shown(text.slice(start, end))));
      end = start;
    }
    const missing = count - lines.length;
    return missing === 0 ? lines : [...this.#before.slice(-missing), ...lines];
  }
}

/** A line that is too long for memory. */
class LongLine {
  head = '';
  /** In characters, without the line end. */
  length = 0;
  isMatched = false;
  #overlap = '';
  #endsInCr = false;

  /** Anchors hold only at the real ends of the line. */
  add(text: string, isLast: boolean, find: (window: string, from: number) => RegExpExecArray | null): void {
    const end = /(?:\r?\n)?$/.exec(text.slice(-2))?.[0] ?? '';
    const splitCr = end === '\n' && text.length === 1 && this.#endsInCr ? 1 : 0;
    this.#endsInCr = text.endsWith('\r');
    this.length += text.length - end.length - splitCr;
    this.head += text.slice(0, Math.max(0, headLength - this.head.length));
    if (this.isMatched) return;
    const window = this.#overlap + text;
    const match = find(window, this.#overlap === '' ? 0 : 1);
    const isSure = (at: number, matched: string) =>
      isLast || at + matched.length < window.length || at < window.length - overlapLength;
    this.isMatched = match !== null && isSure(match.index, match[0]);
    this.#overlap = window.slice(-overlapLength);
  }
}

function linesAfter(text: string, to: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = to; start < text.length && lines.length < count;) {
    const end = lineEnd(text, start);
    lines.push(showLines(shown(text.slice(start, end))));
    start = end;
  }
  return lines;
}

/** Formats text for clients: U+FFFD replaces bytes that are not UTF-8. The copy keeps nothing around it in memory. */
function shown(text: string): string {
  return decodeUtf8(encodePath(text));
}
