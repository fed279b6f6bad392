/** Programs are looked up on a PATH, and found again without a search while they are there. */
import { afterAll, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRun } from '../../../../tools/test-run.mjs';
import { FoundPrograms } from './programs.ts';

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
