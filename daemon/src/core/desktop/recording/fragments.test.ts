/** A film is cut only where the file before the cut is playable. */
import { expect, test } from 'bun:test';
import { Fragments } from './fragments.ts';

function box(name: string, content: string): Buffer {
  const bytes = Buffer.alloc(8 + content.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.write(name + content, 4, 'latin1');
  return bytes;
}

function longBox(name: string, content: string): Buffer {
  const bytes = Buffer.alloc(16 + content.length);
  bytes.writeUInt32BE(1, 0);
  bytes.write(name, 4, 'latin1');
  bytes.writeBigUInt64BE(BigInt(bytes.length), 8);
  bytes.write(content, 16, 'latin1');
  return bytes;
}

const head = Buffer.concat([box('ftyp', 'iso5'), box('moov', 'description')]);
const first = Buffer.concat([box('moof', 'one'), box('mdat', 'pictures')]);
const second = Buffer.concat([box('moof', 'two'), longBox('mdat', 'more pictures')]);
const film = Buffer.concat([head, first, second, box('mfra', 'index')]);

test('pieces end after a description, the pictures of a fragment and the index, however the bytes arrive', () => {
  for (const step of [1, 7, 8, 16, 30, film.length]) {
    const fragments = new Fragments();
    const pieces: string[] = [];
    for (let at = 0; at < film.length; at += step) {
      pieces.push(...fragments.push(film.subarray(at, at + step)).map((piece) => piece.toString('latin1')));
    }
    expect(pieces).toEqual([head, first, second, box('mfra', 'index')].map((piece) => piece.toString('latin1')));
  }
});

test('a fragment that is not whole is no piece', () => {
  const fragments = new Fragments();
  expect(fragments.push(Buffer.concat([head, first]).subarray(0, -1))).toHaveLength(1);
  expect(fragments.push(first.subarray(-1))).toEqual([first]);
});

test('a stream that is not MP4 is refused', () => {
  expect(() => new Fragments().push(Buffer.alloc(8))).toThrow('does not write fragmented MP4');
});
