/** Tests that marks are found wherever the output is split, and that nothing else counts as a mark. */
import { expect, test } from 'bun:test';
import type { Piece } from '../../../kit/byte-log.ts';
import { MarkReader, type MarkedOutput } from './marks.ts';

const token = '0123456789abcdef0123456789abcdef';
const mark = (kind: string, code = '') => `\x1b]7717;${kind};${token}${code}\x07`;

/** Output that arrives piece by piece. Nothing before `head` is kept. */
class Output implements MarkedOutput {
  head = 0;
  /** The longest piece of one read. */
  maxBytes = Infinity;
  #bytes = Buffer.alloc(0);

  use(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  readInto(buffer: Uint8Array, offset: number): Piece | null {
    if (offset < this.head) return { kind: 'gap', from: offset, to: this.head };
    const count = this.#bytes.copy(buffer, 0, offset, Math.min(this.#bytes.length, offset + this.maxBytes));
    return count === 0 ? null : { kind: 'bytes', offset, bytes: buffer.subarray(0, count) };
  }

  write(text: string): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)]);
  }
}

test('marks that arrive byte by byte are found, with their offsets', () => {
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

test('a mark is found when a read returns only a part of it and more output follows', () => {
  const text = `${mark('P')}$ ${mark('B')}ls\n${mark('C')}out\n${mark('D', ';0')}$ `;
  for (let maxBytes = 1; maxBytes <= text.length; maxBytes++) {
    const output = new Output();
    output.maxBytes = maxBytes;
    output.write(text);
    const reader = new MarkReader(output, 0, token);
    expect([...reader.read()].map(({ kind }) => kind)).toEqual(['P', 'B', 'C', 'D']);
    expect(reader.at).toBe(text.length);
  }
});

test('a mark that a shell did not complete does not hide the marks of the next shell', () => {
  const output = new Output();
  output.write(`${mark('C').slice(0, 20)}\x1b[0m`);
  const reader = new MarkReader(output, 0, token);
  expect([...reader.read()]).toEqual([]);
  expect(reader.at).toBe(24);
  output.write(`${mark('C').slice(0, 20)}${mark('D', ';3')}`);
  expect([...reader.read()].map(({ kind, code }) => [kind, code])).toEqual([['D', 3]]);
});

test('marks of other commands and incomplete marks are output', () => {
  const output = new Output();
  output.write(`\x1b]7717;D;${token.replace('0', '9')};0\x07\x1b]7717;D;${token}`);
  output.write(`${'x'.repeat(300)}\x07\x1b]7717;X;${token}\x07${mark('D', ';1000')}${mark('D', ';0')}`);
  const reader = new MarkReader(output, 0, token);
  expect([...reader.read()].map(({ code }) => code)).toEqual([0]);
});

test('output that was dropped is skipped', () => {
  const output = new Output();
  output.write(`${mark('C')}${'x'.repeat(1_000_000)}${mark('D', ';7')}`);
  output.head = 500_000;
  const reader = new MarkReader(output, 0, token);
  expect([...reader.read()].map(({ kind, code }) => [kind, code])).toEqual([['D', 7]]);
  expect(reader.hasGap).toBe(true);
});
