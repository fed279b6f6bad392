/** The package of the client as npm makes it, in an empty project: its types, and the program of its README. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test as plainTest } from 'bun:test';
import { blocksOf } from '../harness/guide.ts';
import { needNodes, nodeOf } from '../harness/interpreters.ts';
import { runIn } from '../harness/package-project.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';

const project = mkdtempSync(join(tmpdir(), 'boxkeep-package-'));
const source = join(repositoryRoot, 'clients/typescript');
const [program = ''] = blocksOf('clients/typescript/README.md', 'ts');
const key = 'a-key-of-the-test';

beforeAll(() => {
  needNodes();
  const [{ filename }] = JSON.parse(
    runIn(project, ['npm', 'pack', '--json', '--pack-destination', project], source),
  ) as [{ filename: string }];
  writeFileSync(join(project, 'package.json'), '{"type": "module", "private": true}');
  runIn(project, ['npm', 'install', '--no-audit', '--no-fund', '--offline', join(project, filename)]);
});
afterAll(() => {
  for (const made of ['dist', 'LICENSE']) rmSync(join(source, made), { recursive: true });
  rmSync(project, { recursive: true });
});

plainTest(
  'CLIENT-PACKAGE the package has the version of the daemon, the licence, and nothing that it does not need',
  () => {
    const manifest = readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8');
    const installed = readFileSync(join(project, 'node_modules/boxkeep/package.json'), 'utf8');
    const version = (text: string) => (JSON.parse(text) as { version: string }).version;
    expect(version(installed)).toBe(version(manifest));
    const files = [...new Bun.Glob('**').scanSync(join(project, 'node_modules/boxkeep'))];
    expect(files.filter((path) => !path.startsWith('dist/')).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    expect(files.every((path) => /\.(?:js|d\.ts)$/.test(path) || !path.startsWith('dist/'))).toBe(true);
  },
);

for (const module of ['nodenext', 'preserve'])
  plainTest(`CLIENT-PACKAGE a program in TypeScript is checked against its types (${module})`, () => {
    writeFileSync(join(project, 'program.ts'), program);
    writeFileSync(join(project, 'globals.d.ts'), 'declare const process: { env: Record<string, string> };');
    const compilerOptions = { module, strict: true, noEmit: true, target: 'esnext', lib: ['esnext', 'dom'], types: [] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    runIn(project, [process.execPath, join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', project]);
  });

for (const major of [18, 24])
  test(
    `CLIENT-PACKAGE the program of its README runs (Node ${major})`,
    async ({ sandbox }) => {
      writeFileSync(join(project, 'program.mjs'), program.replace('http://localhost:18091', sandbox.url));
      const client = Bun.spawn([nodeOf(major), join(project, 'program.mjs')], {
        env: { SVC_API_KEY: key },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [stdout, stderr, code] = await Promise.all([client.stdout.text(), client.stderr.text(), client.exited]);
      expect([code, stderr, stdout.replaceAll(/\s+/g, ' ')]).toEqual([0, '', '0 1 2 3 1 2 3 ']);
    },
    { env: { SVC_API_KEY: key } },
  );
