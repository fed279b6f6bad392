/** Edits a text: replaces anchors and inserts lines. */
import type { NextStep } from '../../../kit/errors.ts';
import { isSameText, lineEndOf, lineEndsOf, NearLineEnds, withLineEnds } from '../line-ends.ts';

export const replaceModes = ['ALL', 'FIRST', 'LAST'] as const;
export type ReplaceMode = (typeof replaceModes)[number];

export type TextEdit =
  | {
      readonly kind: 'replace';
      readonly oldText: string;
      readonly newText: string;
      /** null requires exactly one occurrence of the anchor. */
      readonly mode: ReplaceMode | null;
    }
  | {
      readonly kind: 'insert';
      /** The new lines are inserted after this line, counted from 1. 0 inserts at the top. */
      readonly line: number;
      readonly newText: string;
    };

export interface EditedText {
  readonly text: string;
  /** Range of the first change in the new text. */
  readonly start: number;
  readonly end: number;
  /** Number of replaced occurrences. */
  readonly count: number;
}

/** The reason in machine-readable form. Lines are counted from 1, and their number is limited. */
export type RefusalReason =
  | { readonly kind: 'absent' }
  | { readonly kind: 'ambiguous'; readonly lines: readonly number[] }
  | { readonly kind: 'behind-end'; readonly lineCount: number }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'no-history' }
  | { readonly kind: 'argument'; readonly problem: ArgumentProblem };

/** What is wrong with a request of the editor, whatever the file contains. */
export type ArgumentProblem =
  | { readonly kind: 'empty-anchor' }
  | { readonly kind: 'no-difference' }
  | { readonly kind: 'before-start'; readonly line: number }
  | { readonly kind: 'range-of-directory' }
  | RangeProblem;

/** Why a range of lines cannot be shown. */
export type RangeProblem = { readonly range: readonly number[] } & (
  | { readonly kind: 'range-not-two' }
  | { readonly kind: 'range-below-one' }
  | { readonly kind: 'range-reversed' }
  | { readonly kind: 'range-behind-end'; readonly lineCount: number }
);

/** Explains why an edit or a view is refused, with the wording of the contract. */
export class EditRefusal extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
    readonly hint: string,
    readonly next: NextStep | null = null,
  ) {
    super(message);
  }
}

const byteOrderMark = '\ufeff';

/** A byte order mark is not part of the first line: the mark stays first, and anchors match with and without it. */
export function applyEdit(text: string, edit: TextEdit): EditedText {
  const { mark, body } = withoutMark(text);
  const edited = edit.kind === 'insert' ? insert(body, edit) : replace(body, anchored(edit, mark));
  const { text: changed, start, end, count } = edited;
  return { text: mark + changed, start: mark.length + start, end: mark.length + end, count };
}

/** Replaces each occurrence and counts them. */
export function replaceEach(text: string, change: Change): { readonly text: string; readonly count: number } {
  const { mark, body } = withoutMark(text);
  const { text: changed, count } = replaceAll(body, anchored(change, mark));
  return { text: mark + changed, count };
}

type Replacement = Extract<TextEdit, { kind: 'replace' }>;
type Change = Pick<Replacement, 'oldText' | 'newText'>;

function withoutMark(text: string): { readonly mark: string; readonly body: string } {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : '';
  return { mark, body: text.slice(mark.length) };
}

function anchored<T extends Change>(change: T, mark: string): T {
  const old = withoutMark(change.oldText);
  if (mark === '' || old.mark === '' || old.body === '') return change;
  return { ...change, oldText: old.body, newText: withoutMark(change.newText).body };
}

function replace(text: string, edit: Replacement): EditedText {
  const { mode } = edit;
  const search = searchFor(text, edit);
  const first = search.searched.indexOf(search.oldText);
  if (first === -1) {
    throw new EditRefusal({ kind: 'absent' }, 'old_str not found in file', 'Whitespace counts.', {
      operation: 'files.read',
    });
  }
  if (mode === null && search.searched.includes(search.oldText, first + 1)) {
    throw new EditRefusal(
      { kind: 'ambiguous', lines: linesWith(search.searched, search.oldText) },
      'old_str has multiple occurrences; replace_mode is required',
      'Set replace_mode to ALL, FIRST or LAST, or make old_str longer until it is unique.',
    );
  }
  if (mode === 'ALL') return replaceAll(text, edit);
  const at = mode === 'LAST' ? search.searched.lastIndexOf(search.oldText) : first;
  return replaceAt(text, search, at);
}

/** The text in which an anchor is looked for, and the anchor as it stands there. */
interface Search {
  readonly searched: string;
  readonly oldText: string;
  readonly newText: string;
  /** The searched text has LF where the text has CRLF. */
  readonly isMixed: boolean;
}

/** Line ends of the anchor match those of the file, and line ends of the new text become those of the file. */
function searchFor(text: string, { oldText, newText }: Change): Search {
  const asSent = { searched: text, oldText, newText, isMixed: false };
  if (isSameText(oldText, newText)) return asSent; // The caller changes line ends.
  const ends = lineEndsOf(text);
  if (ends === 'none') return asSent;
  if (ends !== 'mixed')
    return { ...asSent, oldText: withLineEnds(oldText, ends), newText: withLineEnds(newText, ends) };
  if (!oldText.includes('\n') && !newText.includes('\n')) return asSent;
  return { ...asSent, searched: withLineEnds(text, '\n'), oldText: withLineEnds(oldText, '\n'), isMixed: true };
}

function replaceAt(text: string, search: Search, at: number): EditedText {
  const places = new Places(text, search);
  const { start, end, newText } = places.take(at);
  return { text: text.slice(0, start) + newText + text.slice(end), start, end: start + newText.length, count: 1 };
}

/** Translates occurrences in the searched text to the text itself, from left to right. */
class Places {
  readonly #near: NearLineEnds;
  /** Number of CRLF before the last position, and where the next one is. */
  #pairs = 0;
  #nextPair: number;

  constructor(
    private readonly text: string,
    private readonly search: Search,
  ) {
    this.#near = new NearLineEnds(text);
    this.#nextPair = text.indexOf('\r\n');
  }

  take(at: number): { readonly start: number; readonly end: number; readonly newText: string } {
    const { oldText, newText, isMixed } = this.search;
    if (!isMixed) return { start: at, end: at + oldText.length, newText };
    const start = this.#positionOf(at);
    const end = this.#positionOf(at + oldText.length);
    // A line end that was there already stays as it was.
    const ends = this.text.slice(start, end).match(/\r?\n/g) ?? [];
    let taken = 0;
    const fitted = newText.replaceAll(/\r?\n/g, () => ends[taken++] ?? ends.at(-1) ?? this.#near.at(end));
    return { start, end, newText: fitted };
  }

  #positionOf(at: number): number {
    while (this.#nextPair !== -1 && this.#nextPair - this.#pairs < at) {
      this.#pairs += 1;
      this.#nextPair = this.text.indexOf('\r\n', this.#nextPair + 2);
    }
    return at + this.#pairs;
  }
}

/** In UTF-16 code units: the length of the largest body. A longer text could not be read or edited again. */
const maxLength = 32 * 1024 * 1024;
/** A text that is joined from more pieces than this is joined in steps, because each piece costs memory of its own. */
const maxPieces = 4096;

/** From left to right and without overlaps. */
function replaceAll(text: string, change: Change): EditedText {
  const search = searchFor(text, change);
  const { searched, oldText, newText, isMixed } = search;
  let count = 0;
  for (let at = searched.indexOf(oldText); at !== -1; at = searched.indexOf(oldText, at + oldText.length)) count += 1;
  if (text.length + count * (newText.length * (isMixed ? 2 : 1) - oldText.length) > maxLength) {
    throw new EditRefusal(
      { kind: 'too-long' },
      `the text would have more than ${maxLength} characters`,
      'Replace fewer occurrences, or write what is wanted with a command.',
    );
  }
  if (count === 0) return { text, count, start: 0, end: 0 };
  const { start, end } = replaceAt(text, search, searched.indexOf(oldText));
  return { text: isMixed ? replaceInMixed(text, search) : text.replaceAll(oldText, () => newText), count, start, end };
}

function replaceInMixed(text: string, search: Search): string {
  const { searched, oldText } = search;
  const places = new Places(text, search);
  const pieces: string[] = [];
  const joined: string[] = [];
  let behind = 0;
  for (let at = searched.indexOf(oldText); at !== -1; at = searched.indexOf(oldText, at + oldText.length)) {
    const { start, end, newText } = places.take(at);
    pieces.push(text.slice(behind, start), newText);
    behind = end;
    if (pieces.length >= maxPieces) joined.push(pieces.splice(0).join(''));
  }
  return [...joined, ...pieces, text.slice(behind)].join('');
}

const maxNamedLines = 100;

function linesWith(text: string, searched: string): number[] {
  const lines = new Set<number>();
  let [line, counted] = [1, 0];
  for (let at = text.indexOf(searched); at !== -1; at = text.indexOf(searched, at + searched.length)) {
    for (let end = text.indexOf('\n', counted); end !== -1 && end < at; end = text.indexOf('\n', counted)) {
      line += 1;
      counted = end + 1;
    }
    lines.add(line);
    if (lines.size === maxNamedLines) break;
  }
  return [...lines];
}

/** Inserts whole lines. The last line of the file keeps its line end, or its lack of one. */
function insert(text: string, { line, newText }: Extract<TextEdit, { kind: 'insert' }>): EditedText {
  const at = offsetBehind(text, line);
  const ends = lineEndsOf(text);
  if (text === '') return { text: newText, start: 0, end: newText.length, count: 0 };
  const end = ends === 'none' ? (/\r?\n/.exec(newText)?.[0] ?? '\n') : ends === 'mixed' ? endNear(text, at) : ends;
  const lines = withLineEnds(newText.replace(/\r?\n$/, ''), end);
  const isBehindCut = at === text.length && !text.endsWith(lineEndOf(text));
  const start = isBehindCut ? at + end.length : at;
  const added = isBehindCut ? end + lines : lines + end;
  return { text: text.slice(0, at) + added + text.slice(at), start, end: start + lines.length, count: 0 };
}

/** The end of the line before, which is the line that the caller named. */
function endNear(text: string, at: number): string {
  return new NearLineEnds(text).at(Math.max(0, at - 1));
}

function offsetBehind(text: string, line: number): number {
  const end = lineEndOf(text);
  let at = 0;
  for (let count = 0; count < line; count++) {
    const newline = text.indexOf(end, at);
    if (newline === -1 && at === text.length) {
      throw new EditRefusal(
        { kind: 'behind-end', lineCount: count },
        `insert_line ${line} is after the end: the file has ${count} lines`,
        `Give a line from 0, the top, to ${count}, the end.`,
      );
    }
    at = newline === -1 ? text.length : newline + 1;
  }
  return at;
}

/** Number of lines shown before and after a change. */
const snippetLines = 4;
const maxCharacters = 16_000;

/** The lines around a change with line numbers, in the format of `cat -n`. */
export function snippet({ text, start, end }: Omit<EditedText, 'count'>): string {
  const lineEnd = lineEndOf(text);
  const startOf = (at: number) => (at === 0 ? 0 : text.lastIndexOf(lineEnd, at - 1) + 1);
  const behind = (at: number) => text.indexOf(lineEnd, at) + 1 || text.length;
  let from = startOf(start);
  for (let i = 0; i < snippetLines && from > 0; i++) from = startOf(from - 1);
  let to = behind(end);
  for (let i = 0; i < snippetLines && to < text.length; i++) to = behind(to);
  const firstNumber = text.slice(0, from).split(lineEnd).length;
  const numbered = numberLines(text.slice(from, Math.min(to, from + maxCharacters)), firstNumber, lineEnd);
  return to - from > maxCharacters ? `${numbered}\n<clipped: read the file to see the rest>` : numbered;
}

/** Puts the number of each line before the line, in the format of `cat -n`. */
export function numberLines(text: string, firstNumber: number, lineEnd = lineEndOf(text)): string {
  const lines = (text.endsWith(lineEnd) ? text.slice(0, -1) : text).split(lineEnd);
  return lines.map((line, i) => numberLine(line, firstNumber + i)).join('\n');
}

/** The CR of a CRLF is no part of the line. */
export function numberLine(line: string, number: number): string {
  return `${String(number).padStart(6)}\t${line.replace(/\r$/, '')}`;
}
