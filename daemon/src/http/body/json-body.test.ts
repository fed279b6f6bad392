/** JSON bodies: the same result as JSON.parse, and which bodies are refused before it runs. */
import { fc } from '../../../../test/harness/seed.ts';
import { expect, test } from 'bun:test';
import type { CoreError } from '../../kit/errors.ts';
import { parseJsonBody } from './json-body.ts';

const parsed = (text: string | Buffer) => parseJsonBody(Buffer.from(text));
const refusal = async (text: string | Buffer): Promise<[string, string]> => {
  const error = (await parsed(text).catch((thrown: unknown) => thrown)) as CoreError;
  return [error.code, error.message];
};

test('short and long bodies parse as with JSON.parse', async () => {
  const string = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 1, max: 9000 }))
      .map(([s, n]) => s.repeat(n)),
  );
  const values = fc.dictionary(
    fc.string(),
    fc.oneof(string, fc.array(string, { maxLength: 4 }), fc.jsonValue(), fc.record({ inner: string })),
    { maxKeys: 6 },
  );
  await fc.assert(
    fc.asyncProperty(values, fc.boolean(), async (value, isAscii) => {
      const text = JSON.stringify(value, null, isAscii ? 2 : 0);
      const escaped = isAscii ? text.replaceAll(/[^\0-\x7f]/g, unicodeEscapes) : text;
      expect(await parsed(escaped)).toEqual(JSON.parse(text));
    }),
    { numRuns: 60 },
  );
});

function unicodeEscapes(character: string): string {
  return [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}

test('every escape in a long string is decoded, and half a surrogate pair is refused', async () => {
  const filler = 'x'.repeat(5000);
  const text = String.raw`{"a":"${filler}\"\\\/\b\f\n\r\t\u00e4\u8a9e\ud83d\ude00"}`;
  expect(await parsed(text)).toEqual({ a: `${filler}"\\/\b\f\n\r\tä語😀` });
  expect(await parsed(JSON.stringify({ a: `\ufeff${filler}` }))).toEqual({ a: `\ufeff${filler}` });
  for (const half of [String.raw`\ud83d-`, String.raw`\ude00`, String.raw`\ud83d\ud83d`])
    expect(await refusal(`{"a":"${filler}${half}"}`)).toEqual([
      'malformed_request',
      'a string holds half of a surrogate pair',
    ]);
});

test('a long value of __proto__ changes no prototype', async () => {
  const value = (await parsed(`{"a":{"__proto__":"${'x'.repeat(5000)}"}}`)) as { a: object };
  expect(Object.getPrototypeOf(value.a)).toBe(Object.prototype);
  expect(Object.entries(value.a)).toEqual([['__proto__', 'x'.repeat(5000)]]);
});

test('an empty text is undefined, and text that is not JSON is malformed wherever the error lies', async () => {
  expect(await parsed(' \n')).toBeUndefined();
  const long = 'x'.repeat(5000);
  for (const text of [
    '{',
    '{"a":1,}',
    `{"a":"${long}`,
    `{"a":"${long}\\q"}`,
    `{"a":"${long}\\u00g0"}`,
    `{"a":"\n${long}"}`,
  ]) {
    expect((await refusal(text))[0]).toBe('malformed_request');
  }
  const invalid = Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.of(0xff), Buffer.from('"}')]);
  expect(await refusal(invalid)).toEqual(['malformed_request', 'the body is not UTF-8']);
});

test('a large structure is refused before it is parsed', async () => {
  expect(await refusal(`{"a":${'['.repeat(100)}`)).toEqual(['body_too_large', 'the body is nested deeper than 100']);
  const many = ['body_too_large', 'the body has more than 10000 values'] as [string, string];
  expect(await refusal(`{"a":[${'0,'.repeat(10_000)}0]}`)).toEqual(many);
  expect(await refusal(`{"a":[${'[],'.repeat(10_000)}0]}`)).toEqual(many);
  expect(await refusal('""'.repeat(20_001))).toEqual(many);
  expect(await refusal(`{"${'k'.repeat(5000)}":1}`)).toEqual([
    'body_too_large',
    'the body has a name of more than 4096 bytes',
  ]);
  expect(await refusal(`{"a":${' '.repeat(8 * 1024 * 1024)}1}`)).toEqual([
    'body_too_large',
    'the body has more than 8388608 bytes beside its long strings',
  ]);
});

test('9000 values, nested 99 deep, are parsed', async () => {
  const deep = `${'['.repeat(98)}${']'.repeat(98)}`;
  expect(await parsed(`{"a":[${'0,'.repeat(9000)}0],"b":${deep}}`)).toMatchObject({ a: expect.any(Array) });
});
