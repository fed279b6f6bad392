/** A value with an encoded text is written as its JSON, and a long text is encoded in pieces. */
import { expect, test } from 'bun:test';
import { EncodedText } from './encoded-text.ts';

test('a value with an encoded text reads as the value with the text', async () => {
  const texts = [
    '',
    'x',
    '"\\\n\u0000',
    'é\u{1f600}\ud83d',
    `${'x'.repeat(128 * 1024 - 1)}\u{1f600}y`,
    '\n'.repeat(300_000),
  ];
  for (const text of texts) {
    const encoded = await EncodedText.of(text);
    const value = { before: 1, code: encoded.placeholder, after: ['é'] };
    const json = Buffer.concat(encoded.jsonOf(value, '\n')).toString();
    expect(json.endsWith('}\n')).toBe(true);
    expect(JSON.parse(json)).toEqual({ before: 1, code: text, after: ['é'] });
  }
});

test('a value with a short text is one piece, and a value with a long text does not copy the text', async () => {
  const piecesOf = async (text: string) => {
    const encoded = await EncodedText.of(text);
    return encoded.jsonOf({ code: encoded.placeholder }).length;
  };
  expect(await piecesOf('x'.repeat(16 * 1024))).toBe(1);
  expect(await piecesOf('x'.repeat(128 * 1024 + 1))).toBe(4);
});

test('a long text leaves time for other work', async () => {
  let turns = 0;
  const count = setInterval(() => turns++, 1);
  await EncodedText.of('\n'.repeat(30 * 1024 * 1024));
  clearInterval(count);
  expect(turns).toBeGreaterThan(5);
});
