/** The parser ignores the same paths as git. */
import { afterAll, expect, test } from 'bun:test';
import { fc } from '../../../../../test/harness/seed.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { join } from 'node:path';
import { readDirectory } from '../../../platform/files/read-directory.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { SkippedList } from '../tree/skipped.ts';
import { walk } from '../tree/walk.ts';

const home = mkdtempSync(join(tmpdir(), 'boxkeep-gitignore-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const name = fc.constantFrom('a', 'b', 'ab', 'c.o', '.d', 'a b', 'x!', '#e');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const word = fc.constantFrom(
  'a',
  'b',
  'ab',
  '*',
  '*.o',
  '.d',
  '**',
  '?',
  '[a-b]',
  '[!a]*',
  'a*',
  'a\\ b',
  '\\#e',
  'x\\!',
  '[[:alpha:]]',
  '{a,b}',
);
const line = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.constantFrom('', '', '/'),
    fc.array(word, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', ' ', '\\ ', '\r'),
  )
  .map(([negation, root, words, end]) => negation + root + words.join('/') + end);
const ignoreFile = fc.array(
  fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: fc.constantFrom('', '# x', '[a', 'b\\', '/') }),
  {
    minLength: 1,
    maxLength: 5,
  },
);
const places = fc.uniqueArray(fc.constantFrom('', 'a', 'b', 'ab', 'a/b'), { minLength: 1, maxLength: 3 });

async function kept(root: string): Promise<string[]> {
  const found: string[] = [];
  const skipped = new SkippedList();
  const batches = walk<true>({
    operation: 'list',
    root,
    start: true,
    enter: () => true,
    sees: () => true,
    obeysGitignore: true,
    readDirectory,
    slices: new TimeSlices(),
    signal: new AbortController().signal,
    skipped,
  });
  for await (const { entries } of batches) {
    found.push(...entries.filter(({ isDirectory }) => !isDirectory).map((entry) => entry.path.slice(root.length + 1)));
  }
  return found.sort();
}

/** All files that `git add .` would add. */
function keptByGit(root: string): string[] {
  const { stdout } = Bun.spawnSync(['git', 'ls-files', '-z', '--others', '--exclude-per-directory=.gitignore'], {
    cwd: root,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  });
  return stdout.toString().split('\0').filter(Boolean).sort();
}

test('any tree with any .gitignore files is read as git reads it', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 3, maxLength: 12 }),
      places,
      fc.array(ignoreFile, { minLength: 3, maxLength: 3 }),
      async (paths, where, files) => {
        const root = join(home, `tree-${count++}`);
        plant(root, paths);
        Bun.spawnSync(['git', 'init', '-q', root]);
        where.forEach((place, index) => tryWrite(join(root, place, '.gitignore'), (files[index] ?? []).join('\n')));

        expect({ where, files, kept: await kept(root) }).toEqual({ where, files, kept: keptByGit(root) });
        rmSync(root, { recursive: true });
      },
    ),
    { numRuns: 150 },
  );
});

/** Skips a path that runs through a file of the same tree. */
function plant(root: string, paths: readonly string[]): void {
  mkdirSync(root);
  for (const one of paths) tryWrite(join(root, one), '');
}

function tryWrite(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    expect(['ENOTDIR', 'EEXIST', 'EISDIR']).toContain((error as NodeJS.ErrnoException).code ?? '');
  }
}
