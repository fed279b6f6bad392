/** The client for Python as a package: its wheel in an environment that has nothing else. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { needPython } from '../harness/interpreters.ts';
import { runIn } from '../harness/package-project.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-wheel-'));
const client = join(repositoryRoot, 'clients/python');
const run = (command: readonly string[], cwd = directory) => runIn(directory, command, cwd);
let builder = '';
let oldest = '';

beforeAll(() => {
  builder = join(needPython('clients/python/client', '3.13'), 'bin/python');
  oldest = join(needPython('clients/python/client', '3.9'), 'bin/python');
});
afterAll(() => rmSync(directory, { recursive: true }));

test('CLIENT-WHEEL the wheel installs into an empty environment, has the version of the daemon, and runs the example', async ({
  sandbox,
}) => {
  run([builder, '-m', 'hatchling', 'build', '--target', 'sdist', '--directory', directory], client);
  mkdirSync(join(directory, 'source'));
  run(['tar', '-xf', builtFile('.tar.gz'), '--directory', 'source', '--strip-components', '1']);
  run([builder, '-m', 'hatchling', 'build', '--target', 'wheel', '--directory', directory], join(directory, 'source'));

  run([oldest, '-m', 'venv', 'empty']);
  run(['empty/bin/pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', builtFile('.whl')]);
  const readme = readFileSync(join(client, 'README.md'), 'utf8');
  const example = /```python\n([\s\S]*?)```/.exec(readme)?.[1]?.replace('http://localhost:18091', sandbox.url) ?? '';
  expect(run(['empty/bin/python', '-I', '-c', example])).toMatch(/^Python\n1\n2\n3\nfile_not_found /);
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8'));
  expect(run(['empty/bin/python', '-I', '-c', 'print(__import__("boxkeep").__version__)'])).toBe(`${version}\n`);
});

function builtFile(end: string): string {
  return readdirSync(directory).find((name) => name.endsWith(end)) ?? `no file ends with ${end}`;
}
