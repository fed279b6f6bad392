/**
 * Random bytes and digests. `node:crypto` is loaded for the first digest: it brings the streams of the runtime with it,
 * which take a tenth of a start.
 */
import type { Hash } from 'node:crypto';

export type { Hash };

export function randomBytes(count: number): Buffer {
  return crypto.getRandomValues(Buffer.allocUnsafe(count));
}

export function createHash(algorithm: 'sha1' | 'sha256'): Hash {
  return process.getBuiltinModule('node:crypto').createHash(algorithm);
}

/** In a time that depends on the length alone. Throws a RangeError for buffers of different lengths. */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return process.getBuiltinModule('node:crypto').timingSafeEqual(a, b);
}
