/** The model of a fuzzed session: the bytes of its output or input, which all clients are checked against. */
import fc from 'fast-check';
import { mixes, sequences } from './terminal-sequences.ts';

/** A client received something other than the model predicts. */
export class Mismatch extends Error {}

export class ByteRecord {
  #bytes = Buffer.alloc(1024 * 1024);
  length = 0;

  append(bytes: Uint8Array): void {
    const end = this.length + bytes.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(2 * end);
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.length);
    this.length = end;
  }

  slice(from: number, to = this.length): Buffer {
    return this.#bytes.subarray(from, Math.min(to, this.length));
  }
}

/** The kinds of bytes that programs print, valid and invalid. */
export const flavours = ['noise', 'text', 'sequences', 'lines', 'broken'] as const;
/** Without sequences that a terminal answers, because tmux answers them correctly. */
export const quietFlavours = ['noise without escapes', 'text', 'sequences', 'lines'] as const;
export type Flavour = (typeof flavours)[number] | (typeof quietFlavours)[number];

const words = ['plain ', 'zwölf ', 'смысл ', '漢字 ', '😀🎉 ', '\uFEFF', '\n', '\t', '\x1b[31mred\x1b[m '];
const proper = [...Object.values(sequences), ...fc.sample(mixes, { seed: 3, numRuns: 40 })];
/** Truncated characters, and sequences that are unterminated, too long or meaningless. None queries the terminal. */
const broken = [
  ...['\xff', '\xc3', '\xf0\x9f', '\x80\x80', '\xed\xa0\x80', '\xc0\xaf', '\xf4\x90\x80\x80', '\x00', '\x7f'],
  ...['\x1b[', '\x1b]2;', '\x1bP1;2', '\x1b[999999999999;', '\x1b]0;a title\x07', '\x18', '\x1b[?1049h', '\x1b[?2026h'],
  ...[
    '\x1b]52;c;QUJD\x07',
    '\x1bPq#0;2;0;0;0~-\x1b\\',
    '\x1b_nothing\x1b\\',
    '\x1b[38;2;1;',
    '\x1b(0',
    '\x0e',
    '\x1b[4h',
  ],
  ...[
    `\x1b]2;${'t'.repeat(5000)}\x07`,
    `\x1b[${'1;'.repeat(300)}m`,
    '\x1b[3;2r',
    '\x1b[?6h',
    '\x1b[2 q',
    'x'.repeat(200),
  ],
].map((text) => Buffer.from(text, 'latin1'));

const escape = 0x1b;

/** Deterministic: the same seed gives the same bytes. */
export function bytesOf(flavour: Flavour, count: number, seed: number): Buffer {
  const next = numbers(seed);
  if (flavour === 'noise') return noise(count, next);
  if (flavour === 'noise without escapes')
    return noise(count, next).map((byte) => (byte === escape ? 0 : byte)) as Buffer;
  const parts: Buffer[] = [];
  for (let length = 0; length < count; length += parts.at(-1)?.length ?? 0) parts.push(part(flavour, next));
  const all = Buffer.concat(parts);
  // Only broken bytes are cut: in other flavours a truncated sequence could form a query with the following bytes.
  return flavour === 'broken' ? all.subarray(0, count) : all;
}

function part(flavour: Flavour, next: () => number): Buffer {
  const one = <T>(of: readonly T[]): T => of[next() % of.length]!;
  switch (flavour) {
    case 'text':
      return Buffer.from(one(words).repeat(1 + (next() % 9)));
    case 'lines':
      return Buffer.from(`${next() % 100_000} ${'='.repeat(next() % 70)}\r\n`);
    case 'sequences':
      return Buffer.from(one(proper));
    default:
      return one(broken);
  }
}

function noise(count: number, next: () => number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(count / 4) * 4);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(next(), at);
  return bytes.subarray(0, count);
}

/** A generator of 32-bit numbers. */
export function numbers(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state;
  };
}
