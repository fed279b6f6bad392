/** Long strings of a JSON text are cut, wherever the text is divided, and the rest stays valid JSON. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { StringShortener } from './string-shortener.ts';

/** The text as it is left when it arrives in parts of this size. */
function shortened(text: string, maxBytes: number, partBytes: number): string {
  const shortener = new StringShortener(maxBytes);
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += partBytes) parts.push(shortener.push(bytes.subarray(at, at + partBytes)));
  return Buffer.concat(parts).toString();
}

test('a long string is cut with a mark, and the other values stay', () => {
  const long = { id: 7, url: `http://${'p'.repeat(1000)}`, list: [1, 'short', null, { key: 'x'.repeat(50) }] };
  expect(JSON.parse(shortened(JSON.stringify(long), 20, 7))).toEqual({
    id: 7,
    url: `http://${'p'.repeat(13)}…`,
    list: [1, 'short', null, { key: `${'x'.repeat(20)}…` }],
  });
});

test('an escape sequence or a character is never divided', () => {
  for (let maxBytes = 1; maxBytes < 20; maxBytes += 1) {
    const text = String.raw`{"a":"q\"\\\u00e9\"\\\\\n${'é€😀'.repeat(3)}\"end\\","b":1}`;
    const { a, b } = JSON.parse(shortened(text, maxBytes, 3)) as { a: string; b: number };
    expect(b).toBe(1);
    expect(a.isWellFormed()).toBe(true);
    expect((JSON.parse(text) as { a: string }).a.startsWith(a.replace(/…$/, ''))).toBe(true);
  }
});

test('any JSON stays readable, and what is short stays the same', () => {
  const sizes = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(fc.jsonValue(), sizes, sizes, (value, maxBytes, partBytes) => {
      const text = JSON.stringify(value);
      const left = shortened(text, maxBytes, partBytes);
      JSON.parse(left);
      if (Buffer.byteLength(text) <= maxBytes) expect(left).toBe(text);
      expect(shortened(text, text.length * 3, partBytes)).toBe(text);
    }),
  );
});
