/** The extras of the client for Python, and the versions of the frameworks that the tests install. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test as bunTest } from 'bun:test';
import { hangMs } from '../harness/fair-clock.ts';
import { needPython } from '../harness/interpreters.ts';
import { repositoryRoot } from '../harness/sandbox.ts';
import { needFramework, pinned, requirementsOf } from './environment.ts';

/** Installs what it needs first, which may take minutes. */
const test = (name: string, body: () => void): void => bunTest(name, body, hangMs);

const client = join(repositoryRoot, 'clients/python');
const { project } = Bun.TOML.parse(readFileSync(join(client, 'pyproject.toml'), 'utf8')) as {
  project: { 'optional-dependencies': Record<string, string[]> };
};
const extras = project['optional-dependencies'];

const isExtra = (name: string): boolean => name in extras;
const moduleOf = (extra: string): string => `src/boxkeep/adapters/${extra.replaceAll('-', '_')}.py`;
const named = Object.keys(extras).filter((extra) => existsSync(join(client, moduleOf(extra))));

test('FRAME-PINS each extra accepts the version of its framework that the tests install', () => {
  const installed = readdirSync(join(client, 'adapters')).map((file) => /^requirements-(.*)\.txt$/.exec(file)?.[1]);
  expect(installed.filter((name) => !isExtra(name ?? ''))).toEqual([]);
  for (const name of installed as string[]) {
    for (const requirement of extras[name] ?? []) {
      const [, distribution = '', range = ''] = /^([\w-]+)(.*)$/.exec(requirement) ?? [];
      const version = pinned(name, distribution);
      expect([name, version, Bun.semver.satisfies(version, range.replaceAll(',', ' '))]).toEqual([name, version, true]);
    }
  }
});

test('FRAME-PINS each module of boxkeep.adapters has an extra of its name, and is tested with pinned versions', () => {
  const modules = readdirSync(join(client, 'src/boxkeep/adapters')).filter((file) => /^[a-z].*\.py$/.test(file));
  expect(named.map((extra) => moduleOf(extra).split('/').at(-1)).toSorted()).toEqual(modules.toSorted());
  expect(named.filter((extra) => !existsSync(join(repositoryRoot, requirementsOf(extra))))).toEqual([]);
});

for (const extra of named) {
  const source = readFileSync(join(client, moduleOf(extra)), 'utf8');
  const distribution = /framework\("([^"]+)"/.exec(source)?.[1] ?? '';
  const topLevel = /^ {4}from (\w+)/m.exec(source)?.[1] ?? '';
  const load = `import boxkeep.adapters.${extra.replaceAll('-', '_')}`;

  test(`FRAME-CHANGED without its framework, the adapter of ${extra} names the extra that is missing`, () => {
    const bare = join(needPython('clients/python/client', '3.13'), 'bin/python');
    expect(failure(bare, load)).toEndWith(`needs ${distribution}: install boxkeep[${extra}]`);
  });

  test(`FRAME-CHANGED a framework of another interface fails the adapter of ${extra} in one sentence with its version`, () => {
    const fake = mkdtempSync(join(tmpdir(), 'boxkeep-framework-'));
    mkdirSync(join(fake, topLevel));
    writeFileSync(join(fake, topLevel, '__init__.py'), '');
    const facts = join(fake, `${distribution.replaceAll('-', '_')}-99.1.dist-info`);
    mkdirSync(facts);
    writeFileSync(join(facts, 'METADATA'), `Metadata-Version: 2.1\nName: ${distribution}\nVersion: 99.1\n`);
    const said = failure(needFramework(extra), load, fake);
    expect(said).toMatch(new RegExp(`^boxkeep \\S+ does not fit ${distribution} 99\\.1: .*; install the version that`));
    rmSync(fake, { recursive: true });
  });

  test(`FRAME-TYPES mypy --strict accepts the adapter of ${extra} beside its framework`, () => {
    const mypy = join(needPython('clients/python/client', '3.13'), 'bin/mypy');
    const cache = mkdtempSync(join(tmpdir(), 'boxkeep-mypy-'));
    const place = ['--cache-dir', cache, '--python-executable', needFramework(extra)];
    expect(outcome([mypy, '--strict', ...place, join(client, moduleOf(extra))])).toEqual([0, '']);
    rmSync(cache, { recursive: true });
  });
}

test('FRAME-CHANGED a framework that asks for one more method is refused with its version', () => {
  const more = [
    'from abc import abstractmethod',
    'from deepagents.backends import sandbox',
    'sandbox.BaseSandbox.hibernate = abstractmethod(lambda self: None)',
    'sandbox.BaseSandbox.__abstractmethods__ |= {"hibernate"}',
    'import boxkeep.adapters.deepagents',
  ];
  const said = failure(needFramework('deepagents'), more.join('; '));
  expect(said).toContain(`deepagents ${pinned('deepagents', 'deepagents')}: BoxkeepSandbox lacks hibernate;`);
});

/** The message of the error that ends a program. */
function failure(python: string, program: string, ...places: readonly string[]): string {
  const [code, output] = outcome([python, '-B', '-c', program], ...places);
  expect(code).toBe(1);
  return (
    /^boxkeep\.adapters\._framework\.FrameworkDiffers: (.*)$/.exec(output.trim().split('\n').at(-1) ?? '')?.[1] ??
    output
  );
}

/** The exit code, and what is said of a failure. */
function outcome(command: readonly string[], ...places: readonly string[]): [code: number, output: string] {
  const sources = join(client, 'src');
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    MYPYPATH: sources,
    PYTHONPATH: [...places, sources].join(':'),
  };
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: tmpdir(), env });
  return [exitCode, exitCode === 0 ? '' : `${stdout.toString()}${stderr.toString()}`];
}
