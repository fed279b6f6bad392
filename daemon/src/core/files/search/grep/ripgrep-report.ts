/** Converts the output of ripgrep to matches, one file after another. */
import { decodePath } from '../../../../kit/text/path-text.ts';
import { decodeUtf8 } from '../../../../kit/text/text.ts';
import { join } from '../gitignore.ts';
import type { SearchForm } from './ripgrep-arguments.ts';
import {
  type GrepMatch,
  type GrepQuery,
  lengthOf,
  lengthOfLine,
  longestSearchedLine,
  maxFoundLength,
  showHead,
  showLines,
  showMatch,
} from './query.ts';

/** Ripgrep sends UTF-8 as text and other bytes as base64. */
type Text = { readonly text: string } | { readonly bytes: string };

interface LinesEvent {
  readonly lines: Text;
  readonly line_number: number;
  readonly submatches: readonly { readonly start: number; readonly end: number }[];
}

type RipgrepEvent =
  | { readonly type: 'begin'; readonly data: { readonly path: Text } }
  | { readonly type: 'match' | 'context'; readonly data: LinesEvent }
  | { readonly type: 'end'; readonly data: { readonly binary_offset: number | null } }
  | {
      readonly type: 'summary';
      readonly data: { readonly elapsed_total: { readonly secs: number; readonly nanos: number } };
    };

/** The first and last line of a match, inclusive. */
interface Span {
  readonly from: number;
  to: number;
  /** Start of the first match, in characters from the start of its line. */
  readonly at: number;
}

/** A match that still lacks lines after it. */
interface Incomplete {
  readonly after: string[];
  readonly lastLine: number;
}

export class RipgrepReport {
  /** Matches of the files that ripgrep has finished. */
  readonly matches: GrepMatch[] = [];
  /** Binary files that match, of those that ripgrep has finished. */
  readonly binaryFiles: string[] = [];
  /** True after the last event. */
  isWhole = false;
  /** The time that ripgrep needed, in milliseconds. */
  tookMs = 0;
  /** Length of the matches of the finished files. */
  #length = 0;
  #path = '';
  /** Matches of this file, and their length. Only the end of a file tells whether it is binary. */
  #found: GrepMatch[] = [];
  #foundLength = 0;
  #incomplete: Incomplete[] = [];
  /** The last lines, as many as a match shows before itself, in the form in which they stand around a match. */
  #lines = new Map<number, string>();

  /** `offset` is the number of matches of which only the place is wanted. */
  constructor(
    private readonly query: GrepQuery & { readonly form: SearchForm },
    private readonly offset: number,
  ) {}

  /** Whether the matches together are too long for more of them. */
  get isCut(): boolean {
    return this.#length > maxFoundLength;
  }

  add(line: Buffer): void {
    if (this.query.form.output === 'rows') this.#addRow(line);
    else this.#addEvent(line);
  }

  /** Rows have no summary. The query is sound, because an output of events came first. */
  endRows(): void {
    this.#endFile(false);
    this.isWhole = true;
    this.tookMs = Infinity;
  }

  #addEvent(line: Buffer): void {
    // Beyond the limits, the rest of the file matters only for the detection of binary files.
    if (!this.#takesLines && isLinesEvent(line)) return;
    const event = JSON.parse(line.toString()) as RipgrepEvent;
    switch (event.type) {
      case 'begin':
        this.#beginFile(pathOf(event.data.path));
        break;
      case 'match':
      case 'context':
        this.#take(event.data, event.type === 'match');
        break;
      case 'end':
        this.#endFile(event.data.binary_offset !== null);
        break;
      case 'summary':
        this.isWhole = true;
        this.tookMs = event.data.elapsed_total.secs * 1000 + event.data.elapsed_total.nanos / 1e6;
        break;
    }
  }

  #addRow(row: Buffer): void {
    const end = row.indexOf(0);
    const binary = end === -1 ? /^(.+): binary file matches /.exec(decodePath(row))?.[1] : undefined;
    const path = end === -1 ? binary : decodePath(row.subarray(0, end));
    if (path === undefined) return; // A separator of matches, or an empty line behind a cut line.
    if (this.#pathOf(path) !== this.#path) {
      this.#endFile(false);
      this.#beginFile(path);
    }
    if (binary !== undefined) {
      this.#endFile(true);
      return;
    }
    const [head = '', number, mark] = /^(\d+)([:-])/.exec(row.toString('latin1', end + 1, end + 24)) ?? [];
    const line = row.subarray(end + 1 + head.length);
    const isCut = line.length > longestSearchedLine;
    if (!this.#takesLines) return;
    const text = isCut ? showHead(decodeUtf8(line.subarray(0, longestSearchedLine / 64))) : decodeUtf8(line);
    this.#take({ lines: { text }, line_number: Number(number), submatches: [] }, mark === ':');
  }

  #pathOf(path: string): string {
    return join(this.query.root, path.replace(/^\.\//, ''));
  }

  #beginFile(path: string): void {
    this.#path = this.#pathOf(path);
    this.#lines = new Map();
    this.#found = [];
    this.#foundLength = 0;
    this.#incomplete = [];
  }

  #endFile(isBinary: boolean): void {
    if (isBinary) this.binaryFiles.push(this.#path);
    else {
      for (const match of this.#found) this.matches.push(match);
      this.#length += this.#foundLength;
    }
    this.#path = '';
    this.#found = [];
    this.#foundLength = 0;
  }

  get #takesLines(): boolean {
    return this.#hasRoom || this.#incomplete.length > 0;
  }

  get #hasRoom(): boolean {
    return this.#found.length <= this.query.limit && this.#length + this.#foundLength <= maxFoundLength;
  }

  #take({ lines, line_number: first, submatches }: LinesEvent, isMatch: boolean): void {
    const text = 'text' in lines ? lines.text : decodeUtf8(Buffer.from(lines.bytes, 'base64'));
    const { isMultiline, linesBefore, linesAfter } = this.query;
    const parts = (isMultiline ? text.match(/[^\n]*\n|[^\n]+$/g) : null) ?? [text];
    const hasContext = linesBefore + linesAfter > 0;
    if (hasContext) for (const [index, part] of parts.entries()) this.#lines.set(first + index, showLines(part));
    if (isMatch) {
      const at = isMultiline ? 0 : charactersBefore(lines, submatches[0]?.start ?? 0);
      const spans = isMultiline ? spansOf(lines, first, submatches) : [{ from: first, to: first, at }];
      for (const span of spans)
        if (this.#hasRoom) this.#push(span, parts.slice(span.from - first, span.to - first + 1).join(''));
    }
    if (hasContext) this.#complete(first, first + parts.length - 1);
  }

  #push({ from, to, at }: Span, text: string): void {
    const { linesAfter } = this.query;
    const place = { path: this.#path, lineNumber: from };
    if (this.matches.length + this.#found.length < this.offset) {
      this.#found.push({ ...place, content: '', before: [], after: [] });
      return;
    }
    const content = showMatch(text, at, this.query);
    const after: string[] = [];
    const match = { ...place, content, before: this.#linesBefore(from), after };
    this.#found.push(match);
    this.#foundLength += lengthOf(match);
    if (linesAfter > 0) this.#incomplete.push({ after, lastLine: to });
  }

  #linesBefore(from: number): string[] {
    return [...this.#lines].flatMap(([number, line]) =>
      number < from && number >= from - this.query.linesBefore ? [line] : [],
    );
  }

  /** Gives these lines to the matches above them, and forgets the lines that no later match shows. */
  #complete(first: number, last: number): void {
    const { linesBefore, linesAfter } = this.query;
    for (const [number, line] of this.#lines) {
      for (const { after, lastLine } of number < first ? [] : this.#incomplete) {
        if (number <= lastLine || number > lastLine + linesAfter) continue;
        after.push(line);
        this.#foundLength += lengthOfLine(line);
      }
      if (number <= last - linesBefore) this.#lines.delete(number);
    }
    this.#incomplete = this.#incomplete.filter(({ lastLine }) => lastLine + linesAfter > last);
  }
}

/** Decided without a parse, because a file may have millions of such lines. */
function isLinesEvent(line: Buffer): boolean {
  const start = line.toString('latin1', 0, linesEventLength);
  return start.startsWith('{"type":"match"') || start.startsWith('{"type":"context"');
}

const linesEventLength = '{"type":"context"'.length;

/** Ripgrep joins matches on adjacent lines. Here, matches form one block only if they share a line. */
function spansOf(lines: Text, first: number, submatches: LinesEvent['submatches']): Span[] {
  const bytes = bytesOf(lines);
  const cursor = new LineCursor(bytes, first);
  const spans: Span[] = [];
  for (const { start, end } of submatches) {
    const from = cursor.lineOf(start);
    const to = cursor.lineOf(end > start && bytes[end - 1] === 0x0a ? end - 1 : end);
    const last = spans.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else {
      const lineStart = bytes.lastIndexOf(0x0a, start - 1) + 1;
      spans.push({ from, to, at: decodeUtf8(bytes.subarray(lineStart, start)).length });
    }
  }
  return spans;
}

/** Offsets arrive in order, so each newline is counted once. */
class LineCursor {
  #at = 0;

  constructor(
    private readonly bytes: Buffer,
    private line: number,
  ) {}

  lineOf(offset: number): number {
    for (
      let end = this.bytes.indexOf(0x0a, this.#at);
      end !== -1 && end < offset;
      end = this.bytes.indexOf(0x0a, this.#at)
    ) {
      this.line += 1;
      this.#at = end + 1;
    }
    return this.line;
  }
}

function bytesOf(text: Text): Buffer {
  return 'text' in text ? Buffer.from(text.text) : Buffer.from(text.bytes, 'base64');
}

function pathOf(text: Text): string {
  return 'text' in text ? text.text : decodePath(Buffer.from(text.bytes, 'base64'));
}

/** Number of characters before a byte offset. The value is used only for cutting long lines. */
function charactersBefore(lines: Text, offset: number): number {
  return offset === 0 ? 0 : decodeUtf8(bytesOf(lines).subarray(0, offset)).length;
}
