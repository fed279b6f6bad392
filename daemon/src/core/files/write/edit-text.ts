/** Edits a text: replaces anchors and inserts lines. */
import type { NextStep } from '../../../kit/errors.ts';

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

export function applyEdit(text: string, edit: TextEdit): EditedText {
  return edit.kind === 'insert' ? insert(text, edit.line, edit.newText) : replace(text, edit);
}

function replace(text: string, { oldText, newText, mode }: Extract<TextEdit, { kind: 'replace' }>): EditedText {
  const first = text.indexOf(oldText);
  if (first === -1) {
    throw new EditRefusal({ kind: 'absent' }, 'old_str not found in file', 'Whitespace counts.', {
      operation: 'files.read',
    });
  }
  if (mode === null && text.includes(oldText, first + 1)) {
    throw new EditRefusal(
      { kind: 'ambiguous', lines: linesWith(text, oldText) },
      'old_str has multiple occurrences; replace_mode is required',
      'Set replace_mode to ALL, FIRST or LAST, or make old_str longer until it is unique.',
    );
  }
  const at = mode === 'LAST' ? text.lastIndexOf(oldText) : first;
  const changed =
    mode === 'ALL'
      ? replaceEach(text, oldText, newText).text
      : text.slice(0, at) + newText + text.slice(at + oldText.length);
  return { text: changed, start: at, end: at + newText.length };
}

/** In UTF-16 code units. Longer texts are not edited by hand, and the runtime also limits the length of a string. */
const maxLength = 256 * 1024 * 1024;

/** Replaces each occurrence, from left to right and without overlaps. */
export function replaceEach(text: string, oldText: string, newText: string): { text: string; count: number } {
  let count = 0;
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + oldText.length)) count += 1;
  if (text.length + count * (newText.length - oldText.length) > maxLength) {
    throw new EditRefusal(
      { kind: 'too-long' },
      `the text would have more than ${maxLength} characters`,
      'Replace fewer occurrences, or write what is wanted with a command.',
    );
  }
  return { text: count === 0 ? text : text.replaceAll(oldText, () => newText), count };
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

/** Inserts whole lines. Adds a newline where one is missing before or after the new text. */
function insert(text: string, line: number, newText: string): EditedText {
  const at = offsetBehind(text, line);
  const before = at > 0 && text[at - 1] !== '\n' ? '\n' : '';
  const after = at < text.length && !newText.endsWith('\n') ? '\n' : '';
  const start = at + before.length;
  return { text: text.slice(0, at) + before + newText + after + text.slice(at), start, end: start + newText.length };
}

function offsetBehind(text: string, line: number): number {
  let at = 0;
  for (let count = 0; count < line; count++) {
    const newline = text.indexOf('\n', at);
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
export function snippet({ text, start, end }: EditedText): string {
  let from = lineStart(text, start);
  for (let i = 0; i < snippetLines && from > 0; i++) from = lineStart(text, from - 1);
  let to = lineEnd(text, end);
  for (let i = 0; i < snippetLines && to < text.length; i++) to = lineEnd(text, to + 1);
  const firstNumber = text.slice(0, from).split('\n').length;
  const numbered = numberLines(text.slice(from, Math.min(to, from + maxCharacters)), firstNumber);
  return to - from > maxCharacters ? `${numbered}\n<clipped: read the file to see the rest>` : numbered;
}

/** Puts the number of each line before the line, in the format of `cat -n`. */
export function numberLines(text: string, firstNumber: number): string {
  const lines = text.split('\n');
  return lines.map((line, i) => `${String(firstNumber + i).padStart(6)}\t${line}`).join('\n');
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline;
}
