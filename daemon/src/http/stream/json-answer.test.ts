/** JSON in pieces reads as the whole value, and no piece is much larger than the others. */
import { expect, test } from 'bun:test';
import { LongText } from '../../kit/text/long-text.ts';
import { isLarge, jsonPieces } from './json-answer.ts';

const kibibyte = 1024;

async function written(value: unknown): Promise<{ readonly text: string; readonly largest: number }> {
  const pieces: Buffer[] = [];
  for await (const piece of jsonPieces(value)) pieces.push(Buffer.from(piece as string));
  return { text: Buffer.concat(pieces).toString(), largest: Math.max(...pieces.map(({ length }) => length)) };
}

const long = 'x'.repeat(300 * kibibyte);
const values: Readonly<Record<string, unknown>> = {
  'a small value': { a: [1, null, undefined, 'b'], c: undefined },
  'a long text': { before: 1, text: long, after: ['é'] },
  'a text that needs escapes': { text: '"\\\n\u0000é'.repeat(60 * kibibyte) },
  'a surrogate pair where a piece ends': { text: `${'x'.repeat(64 * kibibyte - 1)}\u{1f600}\ud83d${long}` },
  'many members': { list: Array.from({ length: 20_000 }, (_, n) => ({ n, name: `file ${n}`, gone: undefined })) },
  'texts in depth': { a: { b: [{ '"': long }, undefined, [long]] } },
  nothing: null,
};

for (const [name, value] of Object.entries(values)) {
  test(`${name} reads as the value that JSON.stringify writes`, async () => {
    const { text, largest } = await written(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    expect(largest).toBeLessThan(512 * kibibyte);
  });
}

test('a text that is read from its source is a string, however long it is', async () => {
  const pieces = Array.from({ length: 100 }, (_, n) => Buffer.from(`piece "${n}" \u0007 é\n`.repeat(1000)));
  const { text } = await written({ output: new LongText(() => pieces), next: 1 });
  expect(JSON.parse(text)).toEqual({ output: Buffer.concat(pieces).toString(), next: 1 });
});

test('a value is large by its texts, by its members, and by a text that is read from its source', () => {
  expect([long, { a: [long] }, Array(10_000).fill(1), [new LongText(() => [])]].map(isLarge)).toEqual(
    Array(4).fill(true),
  );
  expect(['x', { a: ['x'.repeat(kibibyte)] }, null, undefined].map(isLarge)).toEqual(Array(4).fill(false));
});
