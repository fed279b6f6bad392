/** SHA-256 of a content that comes in pieces. The web has it for whole contents only. */
import { isProgram, local } from './local.ts';

export interface Digest {
  update(bytes: Uint8Array): void;
  /** Ends the digest. */
  hex(): string;
}

export async function newDigest(): Promise<Digest> {
  if (!isProgram) return new Sha256();
  const hash = (await local('crypto')).createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}

const blockBytes = 64;

/** FIPS 180-4, section 6.2. */
export class Sha256 implements Digest {
  readonly #state = fractionsOfRoots(8, 1 / 2);
  readonly #block = new Uint8Array(blockBytes);
  readonly #view = new DataView(this.#block.buffer);
  /** Signed, because runtimes keep larger numbers in a slower form. */
  readonly #words = new Int32Array(blockBytes);
  #length = 0;

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const used = this.#length % blockBytes;
      const piece = bytes.subarray(at, at + blockBytes - used);
      this.#block.set(piece, used);
      this.#length += piece.length;
      at += piece.length;
      if (this.#length % blockBytes === 0) this.#compress();
    }
  }

  hex(): string {
    const bits = BigInt(this.#length) * 8n;
    const zeros = (2 * blockBytes - 9 - (this.#length % blockBytes)) % blockBytes;
    const end = new Uint8Array(1 + zeros + 8);
    end[0] = 0x80;
    new DataView(end.buffer).setBigUint64(1 + zeros, bits);
    this.update(end);
    return [...this.#state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const words = this.#words;
    const block = this.#view;
    for (let at = 0; at < 16; at++) words[at] = block.getInt32(4 * at);
    for (let at = 16; at < 64; at++) {
      const early = words[at - 15]!;
      const late = words[at - 2]!;
      const mixed = (rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)) + words[at - 16]!;
      words[at] = (mixed + (rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)) + words[at - 7]!) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state;
    for (let at = 0; at < 64; at++) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const sum = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice) | 0;
      const one = (sum + constants[at]! + words[at]!) | 0;
      const two = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => (this.#state[at]! += word));
  }
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

const constants = fractionsOfRoots(64, 1 / 3);

/** The first 32 bits of the fractions of the roots of the first primes. */
function fractionsOfRoots(count: number, exponent: number): Int32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  return Int32Array.from(primes, (prime) => ((prime ** exponent % 1) * 2 ** 32) | 0);
}
