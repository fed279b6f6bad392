/** The repository keeps its own rules, and each rule finds what it is there to find. */
import { expect, test } from 'bun:test';
import { repositoryFiles } from './files.ts';
import * as rules from './rules.ts';

const files = repositoryFiles();
const manifest = (version: string, dependencies = {}): string => JSON.stringify({ version, dependencies });
const requirement = { text: 'x', plane: 'http', status: 'covered' };

/** Each rule with a small repository that breaks it, and how its complaints begin. */
const cases = {
  opensWithSentence: {
    planted: {
      'a.ts': 'export {};\n',
      'b.c': '/* Frames. */\nint a;\n',
      'c.h': '/** Reads frames from a socket. */\n',
      'd.mjs': '// Just words here\n',
    },
    says: ['a.ts:', 'b.c:', 'd.mjs:'],
  },
  noUnfinishedWork: {
    planted: { 'a.ts': `// ${'TO' + 'DO'} later\n`, 'b.ts': "mkdtemp('aXXXXXX')\n" },
    says: ['a.ts:1:'],
  },
  noForeignPlace: {
    planted: {
      'a.md': `see ${'../sha' + 'red'}/spec\n`,
      'b.ts': `const here = '${'/wo' + 'rk'}/main';\n`,
      'c.npmrc': `x=https://${'regis' + 'try'}.example.org/npm\n`,
      'd.md': '/workspace, net/work and https://example.org are fine\n',
    },
    says: ['a.md:1:', 'b.ts:1:', 'c.npmrc:1:'],
  },
  noSilentCatch: {
    planted: {
      'a.ts': `try { f(); } catch ${'{}'}\n`,
      'b.ts': `f().catch(() => ${'{}'});\n`,
      'c.ts': 'try { f(); } catch {\n  // gone already\n}\n',
    },
    says: ['a.ts:', 'b.ts:'],
  },
  runtimeInOnePlace: {
    planted: { 'daemon/src/core/a.ts': 'import.meta.dirname\n', 'daemon/src/platform/a.ts': 'import.meta.dirname\n' },
    says: ['daemon/src/core/a.ts:1:'],
  },
  versionOnce: {
    planted: {
      'daemon/package.json': manifest('9.8.7'),
      'package-lock.json': JSON.stringify({ packages: { daemon: { version: '9.8.6' } } }),
      'README.md': 'sandboxd 9.8.7\n',
      'CHANGELOG.md': '## 9.8.7\n',
    },
    says: ['README.md:', 'package-lock.json:'],
  },
  dependenciesHaveReasons: {
    planted: {
      'package.json': manifest('1.0.0', { bare: '1.0.0', loose: '^1.0.0' }),
      'docs/dependencies.md': '| `loose` | a reason |\n| `stale` | a reason |\n',
    },
    says: ['docs/dependencies.md: has no reason for bare', 'loose: ^1.0.0', 'docs/dependencies.md: stale'],
  },
  lockfileIsWhole: {
    planted: {
      'package-lock.json': JSON.stringify({
        packages: {
          'node_modules/a': { optionalDependencies: { 'a-linux': '1.0.0', 'a-other': '1.0.0' } },
          'node_modules/a-linux': {},
        },
      }),
    },
    says: ['package-lock.json: lacks a-other'],
  },
  lockfileNamesNoHost: {
    planted: { 'package-lock.json': '"resolved": "https://example.org/a.tgz"\n"resolved": "daemon"\n' },
    says: ['package-lock.json:1:'],
  },
  changelogIsKept: { planted: { 'CHANGELOG.md': '## 1.0.0\n' }, says: ['CHANGELOG.md:'] },
  documentsNamePathsThatExist: {
    planted: {
      'README.md':
        '`core/gone.ts` `core/here.ts` `core/<plane>/x.ts` `lost/` `application/json` `GONE.md` [a](docs/no.md) [b](core/)\n',
      'daemon/src/core/here.ts': '',
    },
    says: [
      'README.md: names core/gone.ts',
      'README.md: names GONE.md',
      'README.md: names docs/no.md',
      'README.md: names core,',
    ],
  },
  requirementsAreTested: {
    planted: {
      'test/conformance/requirements.json': JSON.stringify([
        { id: 'A-1', ...requirement },
        { id: 'A-2', ...requirement },
        { id: 'A-3', ...requirement, status: 'pending' },
        { id: 'A-3', ...requirement, plane: 'moon', status: 'pending' },
      ]),
      'test/conformance/a.test.ts': `test('A-1 A-9 works', f);\ntest.skipIf(x)("B-1 too", f);\ntest('UTF-8-free title', f);`,
    },
    says: [
      'A-2: is covered',
      'test/conformance/a.test.ts: quotes A-9',
      'test/conformance/a.test.ts: quotes B-1',
      'A-3: exists twice',
      'A-3: plane moon',
    ],
  },
} satisfies { [name in Exclude<keyof typeof rules, 'quotedIds'>]: { planted: Record<string, string>; says: string[] } };

for (const [name, { planted, says }] of Object.entries(cases)) {
  const rule = rules[name as keyof typeof cases];

  test(`${name}: the repository keeps it`, () => {
    expect(rule(files)).toEqual([]);
  });

  test(`${name}: what breaks it is named, and nothing else`, () => {
    const problems = rule(Object.entries(planted).map(([path, text]) => ({ path, text })));
    expect(problems.map((line) => says.find((start) => line.startsWith(start)) ?? line)).toEqual(says);
  });
}

test('the repository is seen whole', () => {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'daemon/src/main.ts', 'tools/tidy/rules.ts', '.oxlintrc.json']),
  );
  expect(paths.filter((path) => path.includes('node_modules'))).toEqual([]);
});
