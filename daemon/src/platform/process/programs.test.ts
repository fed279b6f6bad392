/** A program is trusted only where no other account can have installed, replaced or redirected it. */
import { afterAll, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRun } from '../../../../tools/test-run.mjs';
import { findProgram, findTrustedProgram, FoundPrograms } from './programs.ts';

/** Not below /tmp, which is writable for all accounts. */
const home = mkdtempSync(`/var/lib/boxkeep-${testRun}-`);
afterAll(() => rmSync(home, { recursive: true, force: true }));

function plant(directory: string): string {
  const path = join(home, directory, 'tool');
  mkdirSync(join(home, directory), { recursive: true, mode: 0o755 });
  writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  chmodSync(join(home, directory), 0o755);
  chmodSync(path, 0o755);
  return path;
}

const asRoot = test.skipIf(process.getuid?.() !== 0);

asRoot('what others can write, own or lead elsewhere is passed over, and the next one on PATH is taken', () => {
  chmodSync(home, 0o755);
  const good = plant('good');
  const cases: Readonly<Record<string, () => void>> = {
    'written by all': () => chmodSync(plant('written by all'), 0o757),
    'written by a group': () => chmodSync(plant('written by a group'), 0o775),
    'of another account': () => chownSync(plant('of another account'), 61234, 61234),
    'in a directory of another account': () => {
      plant('in a directory of another account');
      chownSync(join(home, 'in a directory of another account'), 61234, 61234);
    },
    'in an open directory': () => {
      plant('in an open directory');
      chmodSync(join(home, 'in an open directory'), 0o777);
    },
    'below an open directory/bin': () => {
      plant('below an open directory/bin');
      chmodSync(join(home, 'below an open directory'), 0o1777);
    },
    'a link in an open directory': () => {
      mkdirSync(join(home, 'a link in an open directory'));
      symlinkSync(good, join(home, 'a link in an open directory/tool'));
      chmodSync(join(home, 'a link in an open directory'), 0o777);
    },
  };
  for (const [directory, make] of Object.entries(cases)) {
    make();
    const path = `${join(home, directory)}:${join(home, 'good')}`;
    expect([directory, findProgram('tool', path)]).toEqual([directory, join(home, directory, 'tool')]);
    expect([directory, findTrustedProgram('tool', path)]).toEqual([directory, good]);
    expect([directory, findTrustedProgram('tool', join(home, directory))]).toEqual([directory, null]);
  }
});

asRoot('a link of root is followed', () => {
  const good = plant('behind');
  mkdirSync(join(home, 'linked'), { mode: 0o755 });
  symlinkSync(good, join(home, 'linked/tool'));
  expect(findTrustedProgram('tool', join(home, 'linked'))).toBe(good);
  expect(findTrustedProgram('none', join(home, 'linked'))).toBe(null);
});

test('a program that was found is found without a search, as long as it is there', () => {
  const finder = new FoundPrograms();
  const program = plant('found');
  const path = `${join(home, 'earlier')}:${join(home, 'found')}`;
  expect([finder.find('tool', path), finder.find('none', path)]).toEqual([program, null]);
  const earlier = plant('earlier');
  expect(finder.find('tool', path)).toBe(program); // For a second.
  chmodSync(program, 0o644);
  expect(finder.find('tool', path)).toBe(earlier);
  rmSync(earlier);
  expect(finder.find('tool', path)).toBe(null);
});
