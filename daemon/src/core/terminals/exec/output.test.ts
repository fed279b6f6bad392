/** Tests that text converted in pieces equals text converted as a whole, and what is removed before a prompt. */
import { expect, test } from 'bun:test';
import { PlainText, plainText, withoutPromptStart } from './output.ts';

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

test('plain text is the same wherever the output is split', () => {
  const whole = plainText(output);
  expect(whole).toBe('ared\nü日😀b\nc\rde\x1b');
  for (const size of [1, 2, 3, 5, 7, 11, 1000]) expect(inPieces(() => size)).toBe(whole);
  for (let cut = 1; cut < output.length; cut++) {
    expect([cut, inPieces((at) => (at === 0 ? cut : output.length))]).toEqual([cut, whole]);
  }
});

test('a sequence that never ends becomes text, within bounded memory', () => {
  const text = new PlainText();
  let shown = text.take(Buffer.from('before\x1b]0;'));
  expect(shown).toBe('before');
  for (let n = 0; n < 100; n++) shown += text.take(Buffer.alloc(1024, 'x'));
  expect(shown.length).toBeGreaterThan(60 * 1024);
});

const [interrupted, ended] = [130, 1];

test('the line end after an interrupt is removed in bash and sh', () => {
  for (const kind of ['bash', 'posix'] as const) {
    expect(withoutPromptStart('begun\n\n', kind, interrupted)).toBe('begun\n');
    expect(withoutPromptStart('begun\n', kind, interrupted)).toBe('begun');
    expect(withoutPromptStart('\n', kind, interrupted)).toBe('');
    expect(withoutPromptStart('begun\n\n', kind, ended)).toBe('begun\n\n');
    expect(withoutPromptStart('begun\n', kind, null)).toBe('begun\n');
  }
});

test('zsh adds no line end when zsh itself was interrupted', () => {
  expect(withoutPromptStart('begun\n\n%   \r \r', 'zsh', interrupted)).toBe('begun\n');
  expect(withoutPromptStart('\n%   \r \r', 'zsh', interrupted)).toBe('');
  expect(withoutPromptStart('begun\n%   \r \r', 'zsh', interrupted)).toBe('begun\n');
  expect(withoutPromptStart('begun%   \r \r', 'zsh', ended)).toBe('begun');
});

test('the fish mark for a missing line end is removed', () => {
  expect(withoutPromptStart(`begun⏎${' '.repeat(79)}\r⏎ \r`, 'fish', interrupted)).toBe('begun');
  expect(withoutPromptStart('begun\n', 'fish', interrupted)).toBe('begun\n');
});
