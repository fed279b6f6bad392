/** Edits of random texts, with any line ends, give what the same edits give in a text that has only LF. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../../test/harness/seed.ts';
import { applyEdit, snippet, type TextEdit } from './edit-text.ts';

const plain = (text: string) => text.replaceAll(/\r\n|\r/g, '\n');
const line = fc.constantFrom('', 'a', 'b', 'ab', 'é 👋');
const end = fc.constantFrom('\n', '\r\n', '\r');
const sentLines = fc.tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.constantFrom('\n', '\r\n'));

/** A part of the text, as a client sends it: with LF or CRLF, whatever the file has. */
const part = fc.record({ from: fc.nat(), length: fc.nat({ max: 6 }), hasCrlf: fc.boolean() });

function partOf(text: string, { from, length, hasCrlf }: { from: number; length: number; hasCrlf: boolean }): string {
  const start = from % text.length;
  const found = text.slice(start, start + 1 + length);
  return hasCrlf ? found.replaceAll('\n', '\r\n') : found;
}

interface Mixed {
  readonly lines: readonly (readonly [string, string])[];
  readonly hasFinalNewline: boolean;
}

function textOf({ lines, hasFinalNewline }: Mixed): string {
  const text = lines.map(([content, lineEnd]) => content + lineEnd).join('');
  return hasFinalNewline ? text : text.replace(/(?:\r\n|\n|\r)$/, '');
}

/** The edit of the first occurrence in a text with LF. */
function expected(text: string, edit: TextEdit): string {
  if (edit.kind === 'replace') {
    const at = text.indexOf(plain(edit.oldText));
    return text.slice(0, at) + plain(edit.newText) + text.slice(at + plain(edit.oldText).length);
  }
  const hasEnd = text.endsWith('\n');
  const lines = (hasEnd ? text.slice(0, -1) : text).split('\n');
  lines.splice(edit.line, 0, ...plain(edit.newText).replace(/\n$/, '').split('\n'));
  return lines.join('\n') + (hasEnd ? '\n' : '');
}

const parameters = { numRuns: 3000 };

test('in a file with one kind of line end, an edit changes what it changes in a file with LF', () => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 2, maxLength: 8 }),
      end,
      fc.record({ hasFinalNewline: fc.boolean(), mark: fc.constantFrom('', '\ufeff'), isInsert: fc.boolean() }),
      part,
      fc.nat(),
      sentLines,
      (lines, lineEnd, { hasFinalNewline, mark, isInsert }, old, at, [added, sentEnd]) => {
        const text = textOf({ lines: lines.map((content) => [content, lineEnd] as const), hasFinalNewline });
        const lf = plain(text);
        fc.pre(lf.includes('\n'));
        const newText = added.join(sentEnd);
        const lineCount = lf.split('\n').length - (lf.endsWith('\n') ? 1 : 0);
        const edit: TextEdit = isInsert
          ? { kind: 'insert', line: at % (lineCount + 1), newText }
          : { kind: 'replace', oldText: partOf(lf, old), newText, mode: 'FIRST' };
        fc.pre(edit.kind === 'insert' || plain(edit.oldText) !== plain(newText));
        const edited = applyEdit(mark + text, edit);
        expect(edited.text).toBe(mark + expected(lf, edit).replaceAll('\n', lineEnd));
        expect(snippet(edited)).toMatch(/^ +\d+\t/);
      },
    ),
    parameters,
  );
});

test('in a file with mixed line ends, an edit leaves every other byte as it is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 2, maxLength: 8 }),
      fc.boolean(),
      part,
      sentLines,
      (lines, hasFinalNewline, old, [added, sentEnd]) => {
        const text = textOf({ lines, hasFinalNewline });
        const lf = plain(text);
        fc.pre(lf !== '');
        const edit = {
          kind: 'replace',
          oldText: partOf(lf, old),
          newText: added.join(sentEnd),
          mode: 'FIRST',
        } as const;
        fc.pre(plain(edit.oldText) !== plain(edit.newText));
        const { text: after, start, end: behind } = applyEdit(text, edit);
        expect(plain(after)).toBe(expected(lf, edit));
        expect(after.slice(0, start)).toBe(text.slice(0, start));
        expect(text.endsWith(after.slice(behind))).toBe(true);
      },
    ),
    parameters,
  );
});
