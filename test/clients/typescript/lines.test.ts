/** Lines arrive whole, however the connection splits them. */
import { expect, test } from 'bun:test';
import { jsonLines } from '../../../clients/typescript/src/lines.ts';

const whole = Buffer.from('{"text":"héllo"}\n[1,2]\n"end"\n');

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

test('a stream split anywhere gives the same lines', async () => {
  for (let size = 1; size <= whole.length; size++) {
    expect(await Array.fromAsync(jsonLines(pieces(whole, size)))).toEqual([{ text: 'héllo' }, [1, 2], 'end']);
  }
});

test('text after the last newline is not a line', async () => {
  expect(await Array.fromAsync(jsonLines(pieces(whole.subarray(0, -1), 7)))).toEqual([{ text: 'héllo' }, [1, 2]]);
});
