/** Bytes to text: no character is cut in the middle. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { countCharacters, decodeUtf8, takeCharacters, wholeUtf8Length } from './text.ts';

test('any cut of valid UTF-8 leaves whole characters and at most three pending bytes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      fc.nat(100),
      (text, cut) => {
        const bytes = Buffer.from(text).subarray(0, cut);
        const whole = wholeUtf8Length(bytes);
        expect(bytes.length - whole).toBeLessThan(4);
        expect(decodeUtf8(bytes.subarray(0, whole))).not.toContain('\ufffd');
      },
    ),
  );
});

test('bytes that can never become a character are not held back', () => {
  for (const bytes of [[0xff], [0x80], [0x80, 0x80, 0x80, 0x80], [0x61, 0xc0], [0xf5]]) {
    expect([bytes, wholeUtf8Length(Buffer.from(bytes))]).toEqual([bytes, bytes.length]);
  }
  expect(wholeUtf8Length(Buffer.from([0x61, 0xf0, 0x9d, 0x84]))).toBe(1);
});

test('a byte order mark is content', () => {
  expect(decodeUtf8(Buffer.from([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa');
});

test('characters are code points', () => {
  expect(countCharacters('a𝄞é')).toBe(3);
  expect(takeCharacters('a𝄞é𝄞b', 2, 'start')).toBe('a𝄞');
  expect(takeCharacters('a𝄞é𝄞b', 2, 'end')).toBe('𝄞b');
  expect(takeCharacters('ab', 0, 'end')).toBe('');
});
