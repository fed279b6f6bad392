/** Marks are found wherever the pieces of output are cut, and no others are. */
import { expect, test } from 'bun:test';
import type { Piece } from '../../kit/byte-log.ts';
import { MarkReader, type MarkedOutput } from './marks.ts';

const token = '0123456789abcdef0123456789abcdef';
const mark = (kind: string, code = '') => `\x1b]7717;${kind};${token}${code}\x07`;

/** Output that comes piece by piece; before `head` nothing is kept. */
class Output implements MarkedOutput {
  head = 0;
  #bytes = Buffer.alloc(0);

  use(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  refresh(): number {
    return this.#bytes.length;
  }

  readInto(buffer: Uint8Array, offset: number): Piece | null {
    if (offset < this.head) return { kind: 'gap', from: offset, to: this.head };
    const count = this.#bytes.copy(buffer, 0, offset);
    return count === 0 ? null : { kind: 'bytes', offset, bytes: buffer.subarray(0, count) };
  }

  write(text: string): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)]);
  }
}

test('marks are found though they come byte by byte, with their places', () => {
  const text = `noise${mark('C')}out\x1b]put${mark('D', ';130')}\x1b]7717;`;
  const output = new Output();
  const reader = new MarkReader(output, 0, token);
  const found = text.split('').flatMap((character) => {
    output.write(character);
    return [...reader.read()];
  });
  expect(found.map(({ kind, code }) => [kind, code])).toEqual([
    ['C', null],
    ['D', 130],
  ]);
  expect(text.slice(found[0]?.to, found[1]?.from)).toBe('out\x1b]put');
  expect(reader.at).toBe(text.length - '\x1b]7717;'.length);
});

test('marks of other commands, and what only begins like one, are output', () => {
  const output = new Output();
  output.write(`\x1b]7717;D;${token.replace('0', '9')};0\x07\x1b]7717;D;${token}`);
  output.write(`${'x'.repeat(300)}\x07\x1b]7717;X;${token}\x07${mark('D', ';1000')}${mark('D', ';0')}`);
  const reader = new MarkReader(output, 0, token);
  expect([...reader.read()].map(({ code }) => code)).toEqual([0]);
});

test('what is gone is passed over', () => {
  const output = new Output();
  output.write(`${mark('C')}${'x'.repeat(1_000_000)}${mark('D', ';7')}`);
  output.head = 500_000;
  const reader = new MarkReader(output, 0, token);
  expect([...reader.read()].map(({ kind, code }) => [kind, code])).toEqual([['D', 7]]);
  expect(reader.hasGap).toBe(true);
});
