/** Lines arrive whole, however the connection splits them. */
import { expect, test } from 'bun:test';
import { frames, SharedCharacters } from '../../../clients/typescript/src/lines.ts';

const whole = Buffer.from('{"text":"héllo"}\n[1,2]\n{"bytes":4}\na\n}{{\n"end"\n');
const lines = [{ text: 'héllo' }, [1, 2], { bytes: 4 }, null, 'end'];

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** The lines, and the bytes between them in one. */
async function split(bytes: Uint8Array, size: number): Promise<[unknown[], string]> {
  const found = await Array.fromAsync(frames(pieces(bytes, size)));
  const isBytes = (frame: unknown) => frame instanceof Uint8Array;
  return [found.filter((frame) => !isBytes(frame)), Buffer.concat(found.filter(isBytes)).toString()];
}

test('a stream split anywhere gives the same lines, and the bytes after a line with their number', async () => {
  for (let size = 1; size <= whole.length; size++) expect(await split(whole, size)).toEqual([lines, 'a\n}{']);
});

test('text after the last newline is not a line', async () => {
  expect(await split(whole.subarray(0, -1), 7)).toEqual([lines.slice(0, -1), 'a\n}{']);
});

test('pieces split anywhere have the same text, each by itself', () => {
  const text = Buffer.from('aé€𝄞\ufeff');
  const bytes = Buffer.concat([text, Buffer.from([0xf0, 0x9d, 0x41, 0xff, 0x80]), text]);
  for (let size = 1; size <= bytes.length; size++) {
    const shared = new SharedCharacters();
    let read = '';
    for (let at = 0; at < bytes.length; at += size)
      read += new TextDecoder('utf-8', { ignoreBOM: true }).decode(shared.endingIn(bytes.subarray(at, at + size)));
    expect(read).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  }
});
