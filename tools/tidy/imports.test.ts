/** The import rules report each kind of violation, and a checker that cannot read the sources is detected. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';
import { cruise, judge, typescriptFiles } from './imports.mjs';

/** Each file breaks one rule, and names the rule that must report it. */
const planted = [
  { rule: 'core-layers', file: 'core/planted/http.ts', source: `import '../../http/planted.ts';` },
  { rule: 'core-no-npm', file: 'core/planted/npm.ts', source: `import { z } from 'zod';\nz.string();` },
  {
    rule: 'core-own-plane',
    file: 'core/planted/plane.ts',
    source: `import type { Other } from '../other/planted.ts';\nexport type { Other };`,
  },
  {
    rule: 'core-accounts-alone',
    file: 'core/identity/planted.ts',
    source: `import '../processes/planted-none.ts';`,
  },
  {
    rule: 'core-processes-below',
    file: 'core/processes/planted.ts',
    source: `import '../capabilities/planted-none.ts';`,
  },
  {
    rule: 'core-no-outside-world',
    file: 'core/planted/process.ts',
    source: `import { spawn } from 'node:child_process';\nspawn('true');`,
  },
  {
    rule: 'core-no-outside-world',
    file: 'core/planted/runtime.ts',
    source: `import { spawn } from 'bun';\nspawn(['true']);`,
  },
  {
    rule: 'core-platform-types-only',
    file: 'core/planted/platform.ts',
    source: `import { lent } from '../../platform/planted.ts';\nlent();`,
  },
  {
    rule: 'surface-layers',
    file: 'surfaces/planted/platform.ts',
    source: `import type { Lent } from '../../platform/planted.ts';\nexport type { Lent };`,
  },
  { rule: 'surface-own-surface', file: 'surfaces/planted/other.ts', source: `import '../second/planted.ts';` },
  { rule: 'mcp-from-routes', file: 'surfaces/mcp/planted.ts', source: `import '../second/planted.ts';` },
  { rule: 'surfaces-by-api', file: 'http/planted-surface.ts', source: `import '../surfaces/second/planted.ts';` },
  { rule: 'off-is-not-loaded', file: 'compose/planted-early.ts', source: `import '../http/rpc.ts';` },
  { rule: 'surface-packages', file: 'surfaces/planted/npm.ts', source: `import { Hono } from 'hono';\nnew Hono();` },
  { rule: 'kit-no-npm', file: 'kit/planted-npm.ts', source: `import { z } from 'zod';\nz.string();` },
  { rule: 'kit-is-alone', file: 'kit/planted.ts', source: `import '../core/other/planted.ts';` },
  { rule: 'protocols-below', file: 'protocols/planted.ts', source: `import '../core/other/planted.ts';` },
  { rule: 'protocols-no-npm', file: 'protocols/planted-npm.ts', source: `import { z } from 'zod';\nz.string();` },
  {
    rule: 'protocols-no-outside-world',
    file: 'protocols/planted-socket.ts',
    source: `import { connect } from 'node:net';\nconnect(1);`,
  },
  { rule: 'operation-layers', file: 'operations/planted.ts', source: `import '../http/planted.ts';` },
  {
    rule: 'operation-packages',
    file: 'operations/planted-npm.ts',
    source: `import { Hono } from 'hono';\nnew Hono();`,
  },
  {
    rule: 'operation-no-outside-world',
    file: 'operations/planted-socket.ts',
    source: `import { connect } from 'node:net';\nconnect(1);`,
  },
  {
    rule: 'http-operation-types-only',
    file: 'http/planted-operation.ts',
    source: `import { named } from '../operations/operation.ts';\nnamed();`,
  },
  { rule: 'http-layers', file: 'http/planted-core.ts', source: `import '../core/other/planted.ts';` },
  { rule: 'platform-below', file: 'platform/planted-core.ts', source: `import '../core/other/planted.ts';` },
  { rule: 'cli-http-types-only', file: 'cli/planted.ts', source: `import '../http/planted.ts';` },
  {
    rule: 'clients-by-cli',
    file: 'http/planted-client.ts',
    source: `import '../../../clients/typescript/src/backoff.ts';`,
  },
  { rule: 'compose-only-by-main', file: 'surfaces/planted/compose.ts', source: `import '../../compose/index.ts';` },
  { rule: 'compose-worker-by-main', file: 'cli/planted-worker.ts', source: `import '../compose/worker.ts';` },
  { rule: 'main-is-not-imported', file: 'kit/planted-main.ts', source: `import '../main.ts';` },
  { rule: 'known-layer', file: 'helpers/planted.ts', source: `import '../kit/planted-none.ts';` },
  { rule: 'no-dev-package', file: 'platform/planted-dev.ts', source: `import fc from 'fast-check';\nfc.string();` },
  { rule: 'no-cycle', file: 'kit/planted-cycle.ts', source: `import './planted-cycled.ts';\nexport const a = 1;` },
  {
    rule: 'no-circle-of-types',
    file: 'kit/planted-circle.ts',
    source: `import type { B } from './planted-circled.ts';\nexport type A = B | 1;`,
  },
  {
    rule: 'no-circle-of-types',
    file: 'core/terminals/exec/planted-circle.ts',
    source: `import type { Holder } from '../session/planted-circled.ts';\nexport interface Held { by: Holder }`,
  },
  { rule: 'resolvable', file: 'kit/planted-lost.ts', source: `import './planted-nowhere.ts';` },
] as const;

/** The files that the planted files import. They break no rule themselves. */
const targets: Record<string, string> = {
  'http/planted.ts': 'export const answer = 1;',
  'core/other/planted.ts': 'export interface Other { a: 1 }',
  'platform/planted.ts': 'export interface Lent { a: 1 }\nexport const lent = () => 1;',
  'surfaces/second/planted.ts': 'export const answer = 1;',
  'kit/planted-none.ts': 'export const answer = 1;',
  'kit/planted-cycled.ts': `import { a } from './planted-cycle.ts';\nexport const b = a;`,
  'kit/planted-circled.ts': `import type { A } from './planted-circle.ts';\nexport type B = A[];`,
  'core/terminals/session/planted-circled.ts': `import type { Held } from '../exec/planted-circle.ts';\nexport interface Holder { of: Held }`,
  'core/capabilities/planted-none.ts': 'export const answer = 1;',
  'core/processes/planted-none.ts': 'export const answer = 1;',
  'core/planted/allowed.ts': `import '../processes/planted-none.ts';\nimport type { Lent } from '../../platform/planted.ts';\nimport '../../kit/planted-none.ts';\nexport type { Lent };`,
};

const temporary: string[] = [];

let report: ReturnType<typeof cruise>;
let clean: ReturnType<typeof cruise>;
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tidy-imports-'));
  temporary.push(copy);
  for (const path of ['daemon', 'clients', 'package.json', 'tsconfig.json']) {
    cpSync(join(repositoryRoot, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(repositoryRoot, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, source] of Object.entries(targets)) plant(file, source);
  for (const { file, source } of planted) plant(file, source);
  plant('../../test/planted.ts', `import '../daemon/src/kit/planted-none.ts';`);
  plant('../../console/src/planted.ts', `import '../../daemon/src/kit/planted-none.ts';`);
  plant('../../clients/typescript/src/planted.ts', `import 'node:fs';`);
  report = cruise(copy);
  clean = cruise(repositoryRoot);
}, 120_000);

afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true });
});

function plant(file: string, source: string): void {
  const path = join(copy, 'daemon/src', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${source}\n`);
}

function brokenIn(file: string): string[] {
  return judge(report, typescriptFiles(copy))
    .broken.filter((line) => line.includes(`: ${file} -> `))
    .map((line) => line.slice(0, line.indexOf(':')));
}

test('the sources violate no import rule', () => {
  const { seen, broken } = judge(clean, typescriptFiles(repositoryRoot));

  expect(broken).toEqual([]);
  expect(seen).toBeGreaterThan(0);
});

for (const { rule, file } of planted) {
  test(`a planted violation is named: ${rule} in ${file}`, () => {
    expect(brokenIn(`daemon/src/${file}`)).toContain(rule);
  });
}

test('a black-box test that imports the daemon is named', () => {
  expect(brokenIn('test/planted.ts')).toEqual(['black-box-tests']);
});

test('a page that imports the daemon is named', () => {
  expect(brokenIn('console/src/planted.ts')).toEqual(['console-is-a-client']);
});

test('a client that imports a module of one runtime is named', () => {
  expect(brokenIn('clients/typescript/src/planted.ts')).toEqual(['client-stands-alone']);
});

test('allowed imports are not named', () => {
  expect(brokenIn('daemon/src/core/planted/allowed.ts')).toEqual([]);
});

test('a checker that sees fewer files than exist fails, even without a violation', () => {
  const expected = typescriptFiles(repositoryRoot);
  // A checker without a readable TypeScript reports only JavaScript files.
  const blind = { ...clean, modules: clean.modules.filter(({ source }) => !source.endsWith('.ts')) };

  const { seen, broken } = judge(blind, expected);

  expect(seen).toBe(0);
  expect(broken).toContainEqual(expect.stringContaining(`saw 0 of ${expected.length} files`));
});

test('a checker that sees no files fails too', () => {
  expect(judge({ modules: [], summary: { violations: [] } }, []).broken).toEqual([
    'nothing to check: no .ts file under daemon/src',
  ]);
});
