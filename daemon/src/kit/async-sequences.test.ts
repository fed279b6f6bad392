/** Sequences pass every element and every error on, and end their source when the reader stops early. */
import { expect, test } from 'bun:test';
import { mapEach, prepend } from './async-sequences.ts';

const seen: string[] = [];

async function* source(fails = false): AsyncGenerator<number> {
  try {
    yield 1;
    if (fails) throw new Error('broken');
    yield 2;
  } finally {
    seen.push('ended');
  }
}

test('elements are changed and preceded by the first one', async () => {
  const all = await Array.fromAsync(
    prepend(
      0,
      mapEach(source(), (element) => element * 10),
    ),
  );
  expect(all).toEqual([0, 10, 20]);
});

test('an error of the source or of the change reaches the reader', async () => {
  expect(Array.fromAsync(prepend(0, mapEach(source(true), Number)))).rejects.toThrow('broken');
  const refuse = (): never => {
    throw new Error('refused');
  };
  expect(Array.fromAsync(mapEach(source(), refuse))).rejects.toThrow('refused');
});

test('a reader that stops early ends the source', async () => {
  seen.length = 0;
  for await (const element of prepend(0, mapEach(source(), Number))) if (element === 1) break;
  expect(seen).toEqual(['ended']);
});
