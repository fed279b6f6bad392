/** Packs a release: `bun tools/release/pack.ts <native program> <daemon> <ripgrep> <root with a glibc> <release>`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readElf, type Elf } from './elf.ts';
import { layOutRelease, type CarriedFile } from './layout.ts';

/** The program that the native program runs, and the process name of the daemon. */
const loaderName = 'boxkeep-daemon';
const daemonName = 'daemon';
/** `daemon/src/platform/process/carried.ts` finds it. */
const ripgrepName = 'rg';

const triplets: Readonly<Record<Elf['machine'], string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
  other: '',
};

const [programPath = '', daemonPath = '', ripgrepPath = '', root = '', releasePath = ''] = process.argv.slice(2);
const program = readFileSync(programPath);
const daemon = readFileSync(daemonPath);
const ripgrep = readFileSync(ripgrepPath);
const { machine, interpreter } = readElf(daemon);
for (const [path, bytes] of [
  [programPath, program],
  [ripgrepPath, ripgrep],
] as const)
  assertStatic(path, readElf(bytes));
const carried = [...libraries(), { name: ripgrepName, bytes: ripgrep }, { name: daemonName, bytes: daemon }];
writeFileSync(releasePath, layOutRelease(program, carried), { mode: 0o755 });

function assertStatic(path: string, elf: Elf): void {
  if (elf.machine !== machine) throw new Error(`the daemon is for ${machine}, ${path} for ${elf.machine}`);
  if (elf.interpreter !== null) throw new Error(`${path} is not static`);
}

/** The loader, and every library that the daemon or one of these libraries needs. */
function libraries(): CarriedFile[] {
  const loader = interpreter?.split('/').at(-1) ?? '';
  if (!loader.startsWith('ld-linux'))
    throw new Error(`the daemon asks for ${interpreter}, which is not glibc's loader`);
  const found = new Map([[loader, find(loader)]]);
  for (const wanted = [...readElf(daemon).needed]; wanted.length > 0;) {
    const name = wanted.pop() ?? '';
    if (found.has(name)) continue;
    const bytes = find(name);
    found.set(name, bytes);
    wanted.push(...readElf(bytes).needed);
  }
  return [...found].map(([name, bytes]) => ({ name: name === loader ? loaderName : name, bytes }));
}

function find(name: string): Buffer {
  const triplet = triplets[machine];
  const folders = [`lib/${triplet}`, `usr/lib/${triplet}`, 'lib64', 'usr/lib64', 'lib', 'usr/lib'];
  const path = folders.map((folder) => join(root, folder, name)).find((candidate) => existsSync(candidate));
  if (!path) throw new Error(`${name} is not in ${root}: the daemon needs it beside itself`);
  const bytes = readFileSync(path);
  if (readElf(bytes).machine !== machine) throw new Error(`${path} is not for ${machine}`);
  return bytes;
}
