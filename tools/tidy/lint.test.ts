/** The linter reports the mistakes that this project bans, exactly where they are banned. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, bunPath, repositoryRoot } from '../repository.mjs';

const source = {
  runtime: `export const file = Bun.file('/etc/hostname');\n`,
  exit: `export const leave = () => process.exit(1);\n`,
  floating: `const later = async () => 1;\nexport function start() {\n  later();\n}\n`,
  any: `export const wide: any = 1;\n`,
  mock: `import { mock } from 'bun:test';\nawait mock.module('node:fs', () => ({}));\n`,
};

const table = [
  { file: 'daemon/src/core/runtime.ts', source: source.runtime, names: ['no-restricted-globals'] },
  { file: 'daemon/src/platform/runtime.ts', source: source.runtime, names: [] },
  { file: 'daemon/src/core/exit.ts', source: source.exit, names: ['no-restricted-properties'] },
  { file: 'daemon/src/platform/exit.ts', source: source.exit, names: ['no-restricted-properties'] },
  { file: 'daemon/src/main.ts', source: source.exit + source.runtime, names: [] },
  { file: 'daemon/src/core/floating.ts', source: source.floating, names: ['no-floating-promises'] },
  { file: 'tools/floating.ts', source: source.floating, names: ['no-floating-promises'] },
  { file: 'daemon/src/core/any.ts', source: source.any, names: ['no-explicit-any'] },
  { file: 'daemon/src/core/mock.test.ts', source: source.mock, names: ['no-restricted-properties'] },
  { file: 'test/conformance/mock.test.ts', source: source.mock, names: ['no-restricted-properties'] },
];

const oxlint = [bunPath(), binary('oxlint/bin/oxlint')];
/** npm on Node 18 omits the linter's program, which `npm run check` reports. */
const canLint = Bun.spawnSync([...oxlint, '--version']).success;

let copy: string;
let found: { filename: string; code: string }[];

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tidy-lint-'));
  if (!canLint) return;
  for (const file of ['tsconfig.json', '.oxlintrc.json']) cpSync(join(repositoryRoot, file), join(copy, file));
  symlinkSync(join(repositoryRoot, 'node_modules'), join(copy, 'node_modules'));
  for (const planted of table) {
    mkdirSync(dirname(join(copy, planted.file)), { recursive: true });
    writeFileSync(join(copy, planted.file), `/** Planted for the linter. */\n${planted.source}`);
  }
  const run = Bun.spawnSync([...oxlint, '--type-aware', '--format=json'], { cwd: copy });
  found = (JSON.parse(run.stdout.toString()) as { diagnostics: typeof found }).diagnostics;
});

afterAll(() => rmSync(copy, { recursive: true }));

for (const { file, names } of table) {
  test.skipIf(!canLint)(`lint: ${file} has ${names.join(', ') || 'no findings'}`, () => {
    const rules = found
      .filter(({ filename }) => filename === file)
      .map(({ code }) => code.replace(/^.*\((.*)\)$/, '$1'));
    expect(rules).toEqual(names);
  });
}
