/** Generators of clients read spec/v2.json without a warning, leave no operation out, and write code that compiles. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isShort } from '../harness/counts.ts';
import { needNodes, needPackages, needPython, nodeOf } from '../harness/interpreters.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const spec = join(repositoryRoot, 'spec/v2.json');
const settings = join(repositoryRoot, 'test/clients/generators');

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const { paths, components } = JSON.parse(readFileSync(spec, 'utf8')) as Description;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));

/** Runs a program in a directory of its own. Returns all that it printed; fails where that has a warning. */
async function run(directory: string, command: readonly string[]): Promise<string> {
  const program = Bun.spawn([...command], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, NO_COLOR: '1', CI: '1', PYTHONDONTWRITEBYTECODE: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [text, complaints] = await Promise.all([program.stdout.text(), program.stderr.text()]);
  const said = `${text}${complaints}`;
  expect([command, await program.exited, said]).toEqual([
    command,
    0,
    expect.not.stringMatching(/\bwarn|unsupported content|omitted/i),
  ]);
  return said;
}

/** `bin` is below the packages; the generators need a newer Node than the repository does. */
function inNode(bin: string): readonly string[] {
  needNodes();
  return [nodeOf(22), join(needPackages('generators'), 'node_modules', bin)];
}

async function compiles(directory: string, file: string): Promise<void> {
  const options = { strict: true, noEmit: true, skipLibCheck: true, module: 'esnext', moduleResolution: 'bundler' };
  const libraries = { target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
  const config = { compilerOptions: { ...options, ...libraries }, files: [file] };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  await run(directory, [...inNode('typescript/bin/tsc'), '--project', 'tsconfig.json']);
}

/** What names of generators have in common. */
function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z\d]/g, '').toLowerCase();
}

function expectAll(names: Iterable<string>): void {
  const found = new Set([...names].map(plain));
  expect(operations.filter((operation) => !found.has(plain(operation)))).toEqual([]);
}

function matches(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, name = '']) => name);
}

/** The full run alone, because the generators take a minute. */
function generates(what: string, body: (directory: string) => Promise<void>): void {
  test.skipIf(isShort)(
    `VER-GENERATORS ${what}`,
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-generators-'));
      try {
        await body(directory);
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
    600_000,
  );
}

generates('the linter of Redocly has no finding', async (directory) => {
  const config = ['--config', join(settings, 'redocly.yaml')];
  const said = await run(directory, [...inNode('@redocly/cli/bin/cli.js'), 'lint', spec, ...config]);
  expect(said).toContain('Your API description is valid');
});

generates('openapi-typescript', async (directory) => {
  await run(directory, [...inNode('openapi-typescript/bin/cli.js'), spec, '-o', 'types.ts']);
  const [, listed = ''] = readFileSync(join(directory, 'types.ts'), 'utf8').split('export interface operations');
  expectAll(matches(listed, /^ {4}"?([\w.]+)"?: \{$/gm));
  await compiles(directory, 'types.ts');
});

generates('@hey-api/openapi-ts', async (directory) => {
  const plugins = ['-p', '@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
  await run(directory, [...inNode('@hey-api/openapi-ts/bin/run.js'), '-i', spec, '-o', 'client', ...plugins]);
  expectAll(matches(readFileSync(join(directory, 'client/sdk.gen.ts'), 'utf8'), /^export const (\w+) = /gm));
  await compiles(directory, 'client/index.ts');
});

generates('orval', async (directory) => {
  const config = { all: { input: spec, output: { target: './client.ts', client: 'fetch' } } };
  writeFileSync(join(directory, 'orval.config.cjs'), `module.exports = ${JSON.stringify(config)};`);
  await run(directory, [...inNode('orval/dist/bin/orval.js'), '--config', 'orval.config.cjs']);
  expectAll(matches(readFileSync(join(directory, 'client.ts'), 'utf8'), /^export const (\w+) = async/gm));
  await compiles(directory, 'client.ts');
});

generates('openapi-python-client', async (directory) => {
  const python = join(needPython('clients/generators'), 'bin');
  const config = ['--config', join(settings, 'openapi-python-client.yaml'), '--meta', 'none'];
  await run(directory, [join(python, 'openapi-python-client'), 'generate', '--path', spec, ...config]);
  const modules = readdirSync(join(directory, 'described/api'), { recursive: true }) as string[];
  const names = modules.filter((path) => /\/(?!__)\w+\.py$/.test(path)).map((path) => path.replace(/\.py$/, ''));
  expectAll(names.map((path) => path.slice(path.indexOf('/') + 1)));
  const everyModule = names.map((path) => `import described.api.${path.replaceAll('/', '.')}`).join('\n');
  await run(directory, [join(python, 'python'), '-c', everyModule]);
});

generates('datamodel-code-generator', async (directory) => {
  const python = join(needPython('clients/generators'), 'bin');
  const options = ['--output-model-type', 'pydantic_v2.BaseModel', '--formatters', 'builtin'];
  const input = ['--input', spec, '--input-file-type', 'openapi', '--output', 'models.py'];
  await run(directory, [join(python, 'datamodel-codegen'), ...input, ...options]);
  const models = await run(directory, [join(python, 'python'), '-c', 'import models; print(*dir(models))']);
  const found = new Set(models.trim().split(' '));
  expect(Object.keys(components.schemas).filter((name) => !found.has(name))).toEqual([]);
});
