/** The payload of a release: described by its last bytes, and refused when any part is damaged. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compress, digestOf, encodePayload, encodeTable, type Trailer } from '../../tools/release/layout.ts';
import { isSanitized, program, rootTest } from './harness.ts';
import { carried, exitCode, ReleaseStage, run } from './release.ts';

const damaged = { status: 1, stdout: '', stderr: expect.stringMatching(/^boxkeep: this file is damaged: [^\n]+\n$/) };

/** The release is refused, and no file of it is left anywhere. */
function expectDamaged(stage: ReleaseStage, path: string): void {
  expect(stage.run(path)).toMatchObject(damaged);
  if (existsSync(stage.place)) expect(readdirSync(stage.place)).toEqual([]);
}

test.each<[string, Trailer | Partial<Trailer>]>([
  ['a length past the end', { length: 1_000_000n }],
  ['no length', { length: 0n }],
  ['an offset past the end', { offset: 2n ** 63n }],
  ['an offset and a length whose sum overflows', { offset: 2n ** 64n - 1n, length: 2n ** 64n - 1n }],
  ['more content than the table has', { unpackedBytes: 1_000_000n }],
  ['less content than the table has', { unpackedBytes: 1n }],
])('a trailer with %s is refused', (_, changes) => {
  using stage = new ReleaseStage();
  expectDamaged(stage, stage.make(carried(), encodePayload(carried()), changes).path);
});

test.each([
  ['a slash', '../../escaped'],
  ['a leading dot', '.hidden'],
  ['no characters', ''],
  ['no terminator', 'x'.repeat(24)],
])('a name with %s is refused', (_, name) => {
  using stage = new ReleaseStage();
  expectDamaged(stage, stage.make([...carried(), { name, bytes: Buffer.from('content') }]).path);
});

test.each([
  ['more files than it can hold', Array.from({ length: 17 }, (_, index) => `file-${index}`)],
  ['no files', []],
])('a table with %s is refused', (_, names) => {
  using stage = new ReleaseStage();
  expectDamaged(stage, stage.make(names.map((name) => ({ name, bytes: Buffer.from(name) }))).path);
});

test('a file whose size overflows together with the others is refused', () => {
  using stage = new ReleaseStage();
  const payload = encodePayload(carried());
  payload.writeBigUInt64LE(2n ** 64n - 1n, 8);
  expectDamaged(stage, stage.make(carried(), payload).path);
});

const content = Buffer.concat(carried().map(({ bytes }) => bytes));

test.each([
  ['larger than in the table', compress(Buffer.concat([content, Buffer.alloc(1)]))],
  ['a hundred times larger', compress(Buffer.alloc(100 * 1024 * 1024))],
  ['smaller than in the table', compress(content.subarray(1))],
  ['not a compressed stream', Buffer.alloc(100)],
  ['a truncated stream', compress(content).subarray(0, -8)],
  ['two streams', Buffer.concat([compress(content), compress(content)])],
])('content that is %s is refused', (_, stream) => {
  using stage = new ReleaseStage();
  expectDamaged(stage, stage.make(carried(), Buffer.concat([encodeTable(carried()), stream])).path);
});

test('content that does not match its digest is refused', () => {
  using stage = new ReleaseStage();
  expectDamaged(stage, stage.make(carried(), encodePayload(carried()), { digest: digestOf(Buffer.from('x')) }).path);
});

test('one changed byte is detected, wherever it is', () => {
  using stage = new ReleaseStage();
  const { path, bytes } = stage.make();
  const programBytes = readFileSync(program).length;
  for (let at = programBytes; at < bytes.length; at += 11) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed.readUInt8(at) + 1) % 256, at);
    writeFileSync(path, changed);
    expect({ at, ...stage.run(path) }).toMatchObject({ at, ...damaged });
  }
});

test('a truncated file is refused, and a program without a payload reports that', () => {
  using stage = new ReleaseStage();
  const { path, bytes } = stage.make();
  for (const missing of [1, 8, 64, 100]) {
    writeFileSync(path, bytes.subarray(0, -missing));
    expectDamaged(stage, path);
  }
  expect(run([program, 'x'])).toMatchObject({ status: 2, stderr: expect.stringContaining('carries none') });
});

test('a release build accepts no other daemon in place of its own', () => {
  using stage = new ReleaseStage();
  const { status, stderr } = run([stage.make().path, '--daemon=/bin/sh', 'start']);
  expect([status, stderr]).toEqual([2, 'boxkeep: --daemon= is not for a program that carries its daemon\n']);
});

// Sizes around the block of a digest, the compressed block and one read.
test.each([1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 131_071, 131_072, 131_073, 1_000_000])(
  'a daemon of %d random bytes is unpacked unchanged',
  (size) => {
    using stage = new ReleaseStage();
    const daemon = crypto.getRandomValues(Buffer.alloc(Math.min(size, 65_536)));
    const whole = Buffer.concat(Array.from({ length: Math.ceil(size / 65_536) }, () => daemon)).subarray(0, size);
    const { path, directory } = stage.make(carried(whole));
    expect(stage.run(path)).toMatchObject({ status: exitCode, stderr: '' });
    expect(readFileSync(join(directory, 'daemon')).equals(whole)).toBe(true);
  },
);

// Without /proc the sanitizer prints its own message.
rootTest.if(!isSanitized)('without /proc there is one line', () => {
  using stage = new ReleaseStage();
  const withoutProc = ['unshare', '-m', '/bin/sh', '-c', 'mount -t tmpfs tmpfs /proc; exec "$0" start'];
  const { status, stderr } = run([...withoutProc, stage.make().path]);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^boxkeep: cannot open \/proc\/self\/exe [^\n]*mount \/proc first\n$/),
  ]);
});
