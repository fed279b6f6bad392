/** What a start loads: `docs/decisions/0010-start.md`. */
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { repositoryRoot } from '../repository.mjs';

/** They load the streams of the runtime, which take a tenth of a start; `process.getBuiltinModule` loads them later. */
const heavy = ['crypto', 'zlib', 'stream', 'net', 'tls', 'tty', 'http', 'https', 'child_process', 'readline'];

test('a start imports no module of the runtime that brings its streams', async () => {
  const entry = 'daemon/src/main.ts';
  const { metafile } = await Bun.build({
    entrypoints: [join(repositoryRoot, entry)],
    root: repositoryRoot,
    ...({ target: 'bun', splitting: true, metafile: true } as const),
  });
  const modules = Object.entries(metafile?.inputs ?? {});
  const importsOf = new Map(modules.map(([path, { imports }]) => [path, imports]));
  const loaded = new Set(modules.map(([path]) => path).filter((path) => path.endsWith(entry)));
  const imported = new Set<string>();
  for (const path of loaded) {
    for (const { path: target, kind } of importsOf.get(path) ?? []) {
      if (kind === 'dynamic-import') continue;
      (importsOf.has(target) ? loaded : imported).add(target);
    }
  }
  expect(loaded.size).toBeGreaterThan(300);
  expect([...imported].filter((name) => heavy.includes(name.replace('node:', '')))).toEqual([]);
});
