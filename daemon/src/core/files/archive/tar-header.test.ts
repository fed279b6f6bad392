/** Headers of tar archives, written and read back. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../../test/harness/seed.ts';
import { encodePath } from '../../../kit/text/path-text.ts';
import { Piece } from './piece.ts';
import { blockBytes, decodeHeader, decodePax, readText, writeHeader, type TarMember } from './tar-header.ts';

const name = fc
  .array(fc.oneof(fc.constantFrom('a', '/', 'ü', '日', '\udcff', ' '), fc.constant('n'.repeat(60))), { minLength: 1 })
  .map((pieces) => `x${pieces.join('')}`);

const header = fc.record({
  name,
  kind: fc.constantFrom('file', 'symlink', 'hardlink' as const),
  mode: fc.integer({ min: 0, max: 0o7777 }),
  uid: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  gid: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  size: fc.oneof(fc.nat(1000), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  modifiedSeconds: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
  target: name,
  owner: fc.constant('root'),
  group: fc.constant('an account name that is longer than its field'),
}) satisfies fc.Arbitrary<TarMember>;

test('FILE-14 a header round-trips: names as bytes, 32-bit ids, sizes and times of any length', () => {
  fc.assert(
    fc.property(header, (member) => {
      const piece = new Piece(blockBytes);
      writeHeader(member, (length) => piece.space(length));
      const bytes = Buffer.from(piece.take());
      const last = decodeHeader(bytes.subarray(-blockBytes));
      const { mode, uid, gid, size, modifiedSeconds } = member;
      expect(last).toMatchObject({ mode, uid, gid, size, modifiedSeconds });
      const long = new Map<string, string>();
      for (let at = 0; at < bytes.length - blockBytes;) {
        const found = decodeHeader(bytes.subarray(at, at + blockBytes))!;
        long.set(found.flag, readText(bytes, at + blockBytes, found.size));
        at += blockBytes * (1 + Math.ceil(found.size / blockBytes));
      }
      expect(encodePath(long.get('L') ?? last!.name).equals(encodePath(member.name))).toBe(true);
      expect(encodePath(long.get('K') ?? last!.target).equals(encodePath(member.target))).toBe(true);
    }),
  );
});

test('FILE-15 a header with any changed byte decodes to another header or none, and never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: blockBytes, maxLength: blockBytes }), (bytes) => {
      expect(() => decodeHeader(Buffer.from(bytes))).not.toThrow();
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, text) => {
      expect(() => decodePax(Buffer.concat([Buffer.from(text), Buffer.from(bytes)]))).not.toThrow();
    }),
  );
});
