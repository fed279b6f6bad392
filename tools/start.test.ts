/** `npm start -- --no-install` lists what a start would install, and installs nothing. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'bun:test';
import { repositoryRoot } from './repository.mjs';

/** A clone of which nothing is installed, on a machine that has Node alone. */
const clone = mkdtempSync(join(tmpdir(), 'boxkeep-clone-'));
afterAll(() => rmSync(clone, { recursive: true }));
for (const part of ['tools', 'console/build.mjs', 'native/build.mjs', 'package.json', 'package-lock.json'])
  cpSync(join(repositoryRoot, part), join(clone, part), { recursive: true });
const bin = join(clone, 'bin');
mkdirSync(bin);
symlinkSync(Bun.which('node') ?? '', join(bin, 'node'));

function list(...args: string[]): string {
  const command = ['node', join(clone, 'tools/start.mjs'), ...args, '--no-install'];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: clone, env: { PATH: bin } });
  expect([exitCode, stderr.toString()]).toEqual([0, '']);
  return stdout.toString();
}

test('a start lists what is missing with --no-install, and installs nothing', () => {
  const before = readdirSync(clone);
  const missing = list();
  expect(missing).toContain(`start: installs npm packages of package-lock.json, into ${join(clone, 'node_modules')}`);
  expect(missing).toContain('start: needs a C compiler: install musl-tools and gcc');
  expect(missing).not.toContain('Python');
  expect(list('data')).toContain('start: installs Python packages of test/code/requirements.txt');
  expect(readdirSync(clone)).toEqual(before);
});
