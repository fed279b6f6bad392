/** The repository obeys its own rules, and each rule reports its violations. */
import { expect, test } from 'bun:test';
import { repositoryFiles } from './files.ts';
import * as rules from './rules.ts';

const files = repositoryFiles();
const manifest = (version: string, dependencies = {}): string => JSON.stringify({ version, dependencies });
const requirement = { text: 'x', plane: 'http', status: 'covered' };

/** Each rule with a small repository that breaks the rule, and the start of its reports. */
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
  testsCloseThePortsOfThisMachine: {
    planted: {
      'test/conformance/a.test.ts': "Bun.spawnSync([...launchCommand(), 'start'], { env: { PATH } });\n",
      'test/harness/b.ts': 'Bun.spawn([...before, ...program()], { env: programEnvironment() });\n',
      'test/release/c.ts': 'spawn(first, rest, { env: { PATH } });\n',
    },
    says: ['test/conformance/a.test.ts:', 'test/release/c.ts:'],
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
  foldersAreSmall: {
    planted: Object.fromEntries([
      ...Array.from({ length: 26 }, (_, number): [string, string] => [`flat/${number}.ts`, '']),
      ...Array.from({ length: 26 }, (_, number): [string, string] => [`told/${number}.ts`, '']),
      ['told/README.md', 'One file for each row.'],
      ...Array.from({ length: 25 }, (_, number): [string, string] => [`small/${number}.ts`, '']),
      ['small/0.test.ts', ''],
    ]),
    says: ['flat/ has 26 sources'],
  },
  namesAreOfTheField: {
    planted: {
      'daemon/src/core/a.ts': 'const told = 1;\n  readonly most: number;\n// what is told\nconst { patience } = it;\n',
      'daemon/src/core/b.ts': "const text = 'at most: 3';\nconst mostly = 1;\n",
    },
    says: ['daemon/src/core/a.ts:1:', 'daemon/src/core/a.ts:2:', 'daemon/src/core/a.ts:4:'],
  },
  coreKnowsNoWire: {
    planted: {
      'daemon/src/core/a/a.ts':
        "const hint = 'see /v2/watch';\nconst facts = { errno_name: code };\nconst more = 'Pass a larger timeout_ms.';\nconst fine = 'old_str is empty';\nconst key = 'timeout_ms';\n",
      'daemon/src/core/ops/packages.ts': 'const env = { npm_config_offline: true };\n',
      'daemon/src/kit/a.ts': "const hint = 'POST /watch starts a watcher';\n  readonly home_dir?: string;\n",
      'daemon/src/kit/b.ts':
        "const code = isLate ? 'timed_out' : 'hard_timeout';\nconst by = { errnoName: some_name };\n",
      'daemon/src/http/a.ts': "const route = 'GET /v2/watch';\nconst data = { home_dir: home };\n",
    },
    says: [
      'daemon/src/core/a/a.ts:1: names a version',
      'daemon/src/kit/a.ts:1: names a route',
      'daemon/src/core/a/a.ts:3: names the argument timeout_ms',
      'daemon/src/core/a/a.ts:2: has a key',
      'daemon/src/kit/a.ts:2: has a key',
    ],
  },
  versionOnce: {
    planted: {
      'daemon/package.json': manifest('9.8.7'),
      'package-lock.json': JSON.stringify({ packages: { daemon: { version: '9.8.7' } } }),
      'test/clients/requirements.txt': 'other==9.8.7\n',
      'README.md': 'boxkeep-9.8.7.\n',
      'docs/a.md': 'boxkeep 9.8.7-alpha.1, 9.8.70 and 19.8.7\n',
      'CHANGELOG.md': '## 9.8.7\n',
      'deploy/kubernetes/a.yaml': 'image: boxkeep/base:9.8.7\n',
    },
    says: ['README.md:'],
  },
  oldNameIsGone: {
    planted: {
      'a.md': `run ${'sandbox' + 'd'} start\n`,
      [`bench/${'sandbox' + 'd'}.ts`]: 'a sandbox daemon\n',
      'b.h': `#ifndef ${'SANDBOX' + 'D'}_B_H\n`,
      'c.ts': 'interface SandboxDetail {}\n',
    },
    says: ['a.md:1:', `bench/${'sandbox' + 'd'}.ts:`, 'b.h:1:'],
  },
  classNamesAreUnique: {
    planted: {
      'daemon/src/kit/a.ts': 'export class Clock {}\nclass Other {}\n',
      'daemon/src/core/b.ts': 'class Clock {}\n',
      'test/harness/c.ts': 'export class Clock {}\n',
    },
    says: ['daemon/src/core/b.ts:'],
  },
  typesHaveOneHome: {
    planted: {
      'daemon/src/http/a.ts':
        'export interface Limit {\n  lift(): void;\n  /** In bytes. */\n  readonly size: number;\n  readonly name: string;\n}\n',
      'daemon/src/platform/a.ts':
        'export interface Bound {\n  readonly name: string;\n  readonly size: number;\n  lift(): void;\n}\n',
      'daemon/src/core/a.ts':
        'type Words = readonly string[];\ninterface Scale {\n  x: number;\n}\ntype Input = z.output<typeof Input>;\n',
      'daemon/src/core/b.ts':
        'type Words = readonly string[];\ninterface Shift {\n  x: number;\n}\ntype Input = z.output<typeof Input>;\n',
      'daemon/src/surfaces/v1/a.ts': 'type Words = readonly string[];\n',
    },
    says: ['daemon/src/platform/a.ts: declares Bound', 'daemon/src/core/b.ts: declares Words'],
  },
  ownErrorsAreNotParsed: {
    planted: {
      'daemon/src/core/a.ts': "if (error.message.includes('gone')) return;\nif (error.message === gone) return;\n",
      'daemon/src/core/b.ts': 'if (error.code === gone) return error.message;\n',
    },
    says: ['daemon/src/core/a.ts:1:', 'daemon/src/core/a.ts:2:'],
  },
  modulesHoldNoState: {
    planted: {
      'daemon/src/core/a.ts': 'const seen = new Map<string, number>();\nlet count = 0;\n',
      'daemon/src/core/b.ts': 'const kinds = new Set([1]);\nfunction f() {\n  let count = 0;\n}\n',
    },
    says: ['daemon/src/core/a.ts:1:', 'daemon/src/core/a.ts:2:'],
  },
  decisionsCountLines: {
    planted: {
      'daemon/src/kit/a.ts': 'const a = 1;\n'.repeat(100),
      'docs/decisions/1.md':
        '`kit/a.ts` counts (about 90 lines). `kit/a.ts` has about 200 lines. `b.ts` has about 9 lines.\n',
    },
    says: ['docs/decisions/1.md: kit/a.ts has 100 lines'],
  },
  planesAreListed: {
    planted: {
      'CONTRIBUTING.md': '| files | `core/files/` |\n',
      ...{ 'daemon/src/core/files/a.ts': '', 'daemon/src/core/moon/a.ts': '', 'daemon/src/core/identity/a.ts': '' },
    },
    says: ['CONTRIBUTING.md: has no row for core/moon/'],
  },
  limitsAreCalledMax: {
    planted: { 'a.ts': `const ${'mos' + 't'}Bytes = 1;\n`, 'b.ts': 'const maxBytes = 1; // at most Bytes\n' },
    says: ['a.ts:1:'],
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
  changelogIsKept: {
    planted: {
      'daemon/package.json': manifest('1.1.0'),
      'CHANGELOG.md': '# Changelog\n## Unreleased\n## 1.0.0 (2026-01-31)\n',
    },
    says: ['CHANGELOG.md:'],
  },
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
  linksNameHeadings: {
    planted: {
      'README.md': '# A `b` c\n[a](#a-b-c) [b](#b) [c](docs/a.md#one-1) [d](docs/a.md#one-2)\n',
      'docs/a.md': '## One\n```sh\n# Two\n```\n## One\n[a](../README.md#two) [b](b.md#gone)\n',
    },
    says: [
      'README.md: links to README.md#b,',
      'README.md: links to docs/a.md#one-2',
      'docs/a.md: links to README.md#two',
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

  test(`${name}: the repository obeys the rule`, () => {
    expect(rule(files)).toEqual([]);
  });

  test(`${name}: violations are named, and nothing else`, () => {
    const problems = rule(Object.entries(planted).map(([path, text]) => ({ path, text })));
    expect(problems.map((line) => says.find((start) => line.startsWith(start)) ?? line)).toEqual(says);
  });
}

test('every file of the repository is checked', () => {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'daemon/src/main.ts', 'tools/tidy/rules.ts', '.oxlintrc.json']),
  );
  expect(paths.filter((path) => path.includes('node_modules'))).toEqual([]);
});
