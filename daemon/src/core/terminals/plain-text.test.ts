/** Text that comes in pieces is the text that comes as a whole. */
import { expect, test } from 'bun:test';
import { plainText } from './exec-output.ts';
import { PlainText } from './plain-text.ts';

const output = Buffer.from(
  'a\x1b[31mred\x1b[0m\r\nü日😀\x1b]0;a title\x07b\r\n\x1b]2;another\x1b\\c\x1bPstring\x1b\\\rd\x1b[?2004l\x1b(Be\x1b',
);

function inPieces(sizes: (at: number) => number): string {
  const text = new PlainText();
  let all = '';
  for (let at = 0; at < output.length;) {
    const size = sizes(at);
    all += text.take(output.subarray(at, at + size));
    at += size;
  }
  return all + text.end();
}

test('wherever it is cut', () => {
  const whole = plainText(output);
  expect(whole).toBe('ared\nü日😀b\nc\rde\x1b');
  for (const size of [1, 2, 3, 5, 7, 11, 1000]) expect(inPieces(() => size)).toBe(whole);
  for (let cut = 1; cut < output.length; cut++) {
    expect([cut, inPieces((at) => (at === 0 ? cut : output.length))]).toEqual([cut, whole]);
  }
});

test('a sequence that never ends is text at last, and costs no more memory', () => {
  const text = new PlainText();
  let shown = text.take(Buffer.from('before\x1b]0;'));
  expect(shown).toBe('before');
  for (let n = 0; n < 100; n++) shown += text.take(Buffer.alloc(1024, 'x'));
  expect(shown.length).toBeGreaterThan(60 * 1024);
});
