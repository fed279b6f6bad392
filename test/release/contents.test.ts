/** The content of the built files: a static program for its architecture, and everything that its daemon needs. */
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readElf } from '../../tools/release/elf.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const trailerBytes = 64;
const rowBytes = 32;

/** Reads a release by the description in native/README.md, independent of the code that builds it. */
function readRelease(name: string): { program: Buffer; files: Map<string, Buffer> } {
  const release = readFileSync(join(repositoryRoot, 'dist', name));
  const trailer = release.subarray(-trailerBytes);
  expect(trailer.toString('latin1', 0, 8)).toBe('SVCPAYL2');
  const [offset, length, unpackedBytes] = [8, 16, 24].map((at) => Number(trailer.readBigUInt64LE(at)));
  const payload = release.subarray(offset, -trailerBytes);
  expect(payload.length).toBe(length ?? 0);
  expect(createHash('sha256').update(payload).digest()).toEqual(Buffer.from(trailer.subarray(32)));
  const content = Buffer.from(Bun.zstdDecompressSync(payload.subarray(8 + readRows(payload).length * rowBytes)));
  expect(content.length).toBe(unpackedBytes ?? 0);
  const files = new Map<string, Buffer>();
  let at = 0;
  for (const { name, size } of readRows(payload)) files.set(name, content.subarray(at, (at += size)));
  return { program: release.subarray(0, offset), files };
}

function readRows(payload: Buffer): { name: string; size: number }[] {
  return Array.from({ length: Number(payload.readBigUInt64LE(0)) }, (_, index) => {
    const row = payload.subarray(8 + index * rowBytes, 8 + (index + 1) * rowBytes);
    return { size: Number(row.readBigUInt64LE(0)), name: row.toString('latin1', 8).replace(/\0+$/, '') };
  });
}

test.each([
  ['boxkeep', process.arch as 'x64' | 'arm64'],
  ['boxkeep-arm64', 'arm64' as const],
])('dist/%s is static, for %s, and contains everything its daemon loads', (name, machine) => {
  const { program, files } = readRelease(name);
  expect(readElf(program)).toEqual({ machine, interpreter: null, needed: [] });
  const elves = new Map([...files].map(([file, bytes]) => [file, readElf(bytes)]));
  expect([...elves.values()].map((elf) => elf.machine)).toEqual(Array.from({ length: files.size }, () => machine));
  const daemon = elves.get('daemon');
  expect(daemon?.interpreter).toMatch(/\/ld-linux-[\w-]+\.so\.\d$/);
  expect(elves.get('boxkeep-daemon')).toMatchObject({ interpreter: null, needed: [] });
  expect(elves.get('rg')).toMatchObject({ interpreter: null, needed: [] });
  const loader = daemon?.interpreter?.split('/').at(-1);
  const needed = [...elves.values()].flatMap((elf) => elf.needed);
  expect(needed).toContain('libc.so.6');
  expect(needed.filter((library) => library !== loader && !files.has(library))).toEqual([]);
});

test('two builds of one commit are the same, byte for byte', () => {
  const [first, second] = [1, 2].map(() => {
    const { exitCode, stderr } = Bun.spawnSync(['node', 'tools/build.mjs'], { cwd: repositoryRoot });
    if (exitCode !== 0) throw new Error(`tools/build.mjs: ${stderr.toString()}`);
    return createHash('sha256')
      .update(readFileSync(join(repositoryRoot, 'dist/boxkeep')))
      .digest('hex');
  });
  expect(second).toBe(first);
}, 300_000);
