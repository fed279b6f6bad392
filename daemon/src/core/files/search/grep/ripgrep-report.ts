/** Converts the JSON lines of ripgrep to matches, one file after another. */
import { decodePath } from '../../../../kit/text/path-text.ts';
import { decodeUtf8 } from '../../../../kit/text/text.ts';
import { join } from '../gitignore.ts';
import { type GrepMatch, type GrepQuery, showLines, showMatch } from './query.ts';

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
interface Block {
  readonly from: number;
  to: number;
  /** Start of the first match, in characters from the start of its line. */
  readonly at: number;
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
  #path = '';
  #lines = new Map<number, string>();
  #blocks: Block[] = [];

  constructor(private readonly query: GrepQuery) {}

  add(line: Buffer): void {
    const event = JSON.parse(line.toString()) as RipgrepEvent;
    switch (event.type) {
      case 'begin':
        this.#path = join(this.query.root, pathOf(event.data.path).replace(/^\.\//, ''));
        this.#lines = new Map();
        this.#blocks = [];
        break;
      case 'match':
      case 'context':
        // Beyond the limit, the rest of the file matters only for the detection of binary files.
        if (this.#blocks.length <= this.query.limit) this.#take(event.data, event.type === 'match');
        break;
      case 'end':
        if (event.data.binary_offset !== null) this.binaryFiles.push(this.#path);
        else for (const block of this.#blocks) this.matches.push(this.#matchOf(block));
        break;
      case 'summary':
        this.isWhole = true;
        this.tookMs = event.data.elapsed_total.secs * 1000 + event.data.elapsed_total.nanos / 1e6;
        break;
    }
  }

  #take({ lines, line_number: first, submatches }: LinesEvent, isMatch: boolean): void {
    const text = 'text' in lines ? lines.text : decodeUtf8(Buffer.from(lines.bytes, 'base64'));
    if (!this.query.isMultiline) {
      this.#lines.set(first, text);
      const start = submatches[0]?.start ?? 0;
      if (isMatch) this.#blocks.push({ from: first, to: first, at: charactersBefore(lines, start) });
      return;
    }
    const parts = text.match(/[^\n]*\n|[^\n]+$/g) ?? [text];
    parts.forEach((part, index) => this.#lines.set(first + index, part));
    if (isMatch) this.#addSpans(lines, first, submatches);
  }

  /** Ripgrep joins matches on adjacent lines. Here, matches form one block only if they share a line. */
  #addSpans(lines: Text, first: number, submatches: LinesEvent['submatches']): void {
    const bytes = bytesOf(lines);
    const cursor = new LineCursor(bytes, first);
    for (const { start, end } of submatches) {
      const from = cursor.lineOf(start);
      const to = cursor.lineOf(end > start && bytes[end - 1] === 0x0a ? end - 1 : end);
      const last = this.#blocks.at(-1);
      if (last && from <= last.to) last.to = Math.max(last.to, to);
      else
        this.#blocks.push({
          from,
          to,
          at: decodeUtf8(bytes.subarray(bytes.lastIndexOf(0x0a, start - 1) + 1, start)).length,
        });
    }
  }

  #matchOf({ from, to, at }: Block): GrepMatch {
    const { linesBefore, linesAfter } = this.query;
    let content = '';
    for (let number = from; number <= to; number++) content += this.#lines.get(number) ?? '';
    return {
      path: this.#path,
      lineNumber: from,
      content: showMatch(content, at, this.query),
      before: this.#around(from - linesBefore, from - 1),
      after: this.#around(to + 1, to + linesAfter),
    };
  }

  #around(from: number, to: number): string[] {
    const found: string[] = [];
    for (let number = from; number <= to; number++) {
      const line = this.#lines.get(number);
      if (line !== undefined) found.push(showLines(line));
    }
    return found;
  }
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
