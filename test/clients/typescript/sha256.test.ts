/** The digest of pages is that of the runtime, for contents of any size in any pieces. */
import { expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { Sha256 } from '../../../clients/typescript/src/transfer/sha256.ts';

test('a content has its SHA-256, wherever it is cut', () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 100_003]) {
    const content = randomBytes(size);
    for (const cut of [0, 1, 63, 64, size]) {
      const digest = new Sha256();
      digest.update(content.subarray(0, cut));
      digest.update(content.subarray(cut));
      expect(digest.hex()).toBe(createHash('sha256').update(content).digest('hex'));
    }
  }
});
