/** Bytes as the text of a JSON string: the same output as the runtime gives for the decoded text. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { longestEscape, writeJsonText } from './json-text.ts';
import { decodeUtf8 } from './text.ts';

const before = 3;

function written(text: Uint8Array): string {
  const into = Buffer.alloc(before + text.length * longestEscape, '~');
  const end = writeJsonText(into, before, text);
  expect(into.toString('latin1', 0, before)).toBe('~'.repeat(before));
  return `"${into.toString('utf8', before, end)}"`;
}

test('every ASCII character is written as JSON.stringify writes it, at any position', () => {
  for (let code = 0; code < 128; code++) {
    for (const around of ['', 'a', 'ab', 'abc', 'abcd', '"', '\n\n\n', '\ud83d\ude00']) {
      const text = `${around}${String.fromCharCode(code)}${around}#!^`;
      expect(written(Buffer.from(text))).toBe(JSON.stringify(text));
    }
  }
});

test('any bytes at any alignment are written as JSON.stringify writes the decoded text', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('\u001b[31m', '"\\"', '\n\r\t', '\u2028', '\ufeff', '\u007f', '#"#')
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(part), fc.nat({ max: 7 }), (parts, shift) => {
      const text = Buffer.concat([Buffer.alloc(shift), ...parts]).subarray(shift);
      expect(written(text)).toBe(JSON.stringify(decodeUtf8(text)));
    }),
  );
});

test('text of only escapes or only invalid bytes fits into the reserved buffer', () => {
  for (const byte of [0, 0x1b, 0x22, 0x80, 0xff]) {
    const text = Buffer.alloc(10_001, byte);
    expect(written(text)).toBe(JSON.stringify(decodeUtf8(text)));
  }
});
