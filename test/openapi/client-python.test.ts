/** The types and the style of the client for Python, as the checkers of its users see them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect } from 'bun:test';
import { needPackages, needPython } from '../harness/interpreters.ts';
import { programTest as test, repositoryRoot } from '../harness/sandbox.ts';

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-python-types-'));
const client = join(repositoryRoot, 'clients/python');
const sample = readFileSync(join(repositoryRoot, 'test/clients/python/client/typed.py'), 'utf8');
const version = '3.13';
let python = '';
let pyright = '';

beforeAll(() => {
  python = needPython('clients/python/client', version);
  pyright = join(needPackages('pyright'), 'node_modules/pyright/index.js');
});
afterAll(() => rmSync(directory, { recursive: true }));

const wrong = {
  'a field that no answer has': 'print(Sandbox("a").commands.run("true").stdot)',
  'an argument that no method has': 'Sandbox("a").files.read("a", start=1)',
  'a value of another type': 'Sandbox("a").files.read("a", start_line="1")',
  'an operation that does not exist': 'Sandbox("a").call("files.reed", path="a")',
};

const checkers = {
  'mypy --strict': (file: string) => [
    join(python, 'bin/mypy'),
    ...['--strict', '--python-version', '3.10', '--cache-dir', join(directory, 'mypy'), '--exclude', 'adapters/', file],
  ],
  pyright: (file: string) => {
    const config = join(directory, 'pyrightconfig.json');
    // test/frameworks checks them beside their frameworks.
    const exclude = [relative(directory, join(client, 'src/boxkeep/adapters'))];
    const place = {
      extraPaths: [join(client, 'src')],
      include: [relative(directory, file)],
      exclude,
      pythonVersion: '3.9',
    };
    writeFileSync(config, JSON.stringify(place));
    return [process.execPath, pyright, '--pythonpath', join(python, 'bin/python'), '--project', config];
  },
};

for (const [name, command] of Object.entries(checkers)) {
  test(`CLIENT-TYPES ${name} accepts the client for Python`, () => {
    expect(outcome(command(join(client, 'src/boxkeep')))).toEqual([0, '']);
  });

  test(`CLIENT-TYPES ${name} accepts a program, and finds each wrong use`, () => {
    const file = join(directory, 'program.py');
    writeFileSync(file, sample);
    expect(outcome(command(file))).toEqual([0, '']);
    const first = sample.split('\n').length;
    writeFileSync(file, `${sample}${Object.values(wrong).join('\n')}\n`);
    const [, output] = outcome(command(file));
    const found = Object.keys(wrong).filter((_, index) => output.includes(`program.py:${first + index}:`));
    expect(found).toEqual(Object.keys(wrong));
  });
}

test('CLIENT-TYPES ruff finds nothing in the client for Python, and its format is that of ruff', () => {
  const ruff = join(python, 'bin/ruff');
  expect(outcome([ruff, 'check', '--no-cache', client])).toEqual([0, '']);
  expect(outcome([ruff, 'format', '--no-cache', '--check', client])).toEqual([0, '']);
});

/** The exit code, and what is said of a failure. */
function outcome(command: readonly string[]): [code: number, output: string] {
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    MYPYPATH: join(client, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: directory, env });
  return [exitCode, exitCode === 0 ? '' : `${stdout.toString()}${stderr.toString()}`];
}
