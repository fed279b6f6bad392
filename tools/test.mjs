/** `npm test`: every tier of tests, from the repository itself to the built binary, and one total at the end. */
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';
import { runTool, setup } from './setup.mjs';
import { TestQueue } from './test-queue.mjs';

/** Tests with a daemon of their own wait more than they work: three files fill two cores. */
const filesAtOnce = Math.min(cpus().length + 1, 8);

/**
 * What the sources and the binary cannot differ in: both run the same TypeScript on the same runtime, and these measure
 * or flood it for long. The binary is what is given away, so it is the one that is measured and flooded in full.
 */
const sameInTheBinary = [
  ...['test/openapi/', 'test/promises/10-'],
  ...['code-languages', 'code-limits', 'terminal-fuzz', 'terminal-tmux'].map((name) => `test/conformance/${name}`),
];

/** The bare ones have no interpreters. What the wire allows and v1 makes of it, what thousands of something cost, and how a screen looks is the same in every root. */
const sameInEveryRoot = [
  ...['test/openapi/', 'test/promises/10-'],
  ...['code', 'console', 'v1-', 'cli-attach', 'bad-archives', 'file-walks', 'files-model', 'hostile-clients', 'http'],
  ...['bad-input', 'fuzz', 'recording', 'relay', 'screen', 'socket', 'tmux'].map((part) => `terminal-${part}`),
].map((path) => (path.startsWith('test/') ? path : `test/conformance/${path}`));

/** They take longest, and are started first in their tier: none is left alone at the end. */
const longFiles = [
  ...['v1-shell-exec', 'code-limits', 'terminal-tmux', 'code-languages', 'upgrade', 'terminal-exec', 'terminal-socket'],
  ...['roots', 'openapi', 'code-external', 'terminal-relay', 'code-kernel', 'terminal-fuzz', 'cli-attach', 'watch'],
  ...['code-hostile', 'v1-file-search', '7-survives-its-users', 'cli', 'file-trees', 'v1-nodejs', '5-whole-files'],
  ...['limits-of-the-machine', 'bad-archives', 'survival', 'v1-shell', 'v1-bash', 'terminal-sessions'],
];

/**
 * A tier runs the tests of a folder; `before` makes what they need. Names given as arguments select tiers; `--all`
 * selects also those that run by name only, because they need more than a newcomer may have.
 */
const tiers = [
  { name: 'tidy', folder: 'tools' },
  { name: 'plain native', folder: 'native' },
  {
    name: 'sanitized native',
    folder: 'native',
    env: { SANDBOXD_NATIVE: join(repositoryRoot, 'native/build/sandboxd-native-sanitize') },
    before: [['native/build.mjs', '--sanitize']],
    onlyByName: true, // Needs the sanitizers of gcc, which a newcomer's compiler may not have.
  },
  { name: 'unit', folder: 'daemon/src', before: [['tools/test-programs.mjs']] },
  { name: 'bench', folder: 'bench' },
  {
    name: 'conformance on source',
    folder: 'test',
    except: ['test/release/', ...sameInTheBinary],
    env: { SANDBOXD_TARGET: 'source' },
    before: [['tools/test-programs.mjs']],
  },
  {
    name: 'conformance on binary',
    folder: 'test',
    except: ['test/release/'],
    env: { SANDBOXD_TARGET: 'binary' },
    before: [['tools/test-programs.mjs'], ['tools/build.mjs']],
  },
  {
    name: 'release',
    folder: 'test/release',
    before: [['tools/build.mjs'], ['tools/build.mjs', '--arch', 'arm64']],
    onlyByName: true, // Needs root, packages of Debian and a second compiler.
  },
  ...['musl', 'busybox', 'pid1'].map((root) => ({
    name: `conformance in root ${root}`,
    folder: 'test',
    except: ['test/release/', ...sameInEveryRoot],
    env: { SANDBOXD_TARGET: 'binary', SANDBOXD_ROOT: root },
    before: [['tools/build.mjs']],
    onlyByName: true, // Needs root, and packages of Debian.
  })),
];

await runTool(async () => {
  const wanted = process.argv.slice(2);
  const chosen = tiers.filter(({ name, onlyByName }) =>
    wanted.length === 0 ? !onlyByName : wanted.some((word) => word === '--all' || name.includes(word)),
  );
  if (chosen.length === 0) {
    console.error(`no tier is called ${wanted.join(' ')}; there are: ${tiers.map(({ name }) => name).join(', ')}`);
    return 1;
  }
  await setup({ compiler: true });
  const queue = new TestQueue(chosen.map((tier) => ({ ...tier, files: filesOf(tier) })));
  const { passed, failed, told } = await queue.run(filesAtOnce);
  if (told.length > 0) console.log(`\n== what failed\n${told.join('\n')}\n`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

/** The files of a tier, in the order in which they are started. */
function filesOf({ folder, except = [] }) {
  return testsIn(folder)
    .filter((path) => !except.some((start) => path.startsWith(start)))
    .sort((one, other) => rank(one) - rank(other));
}

function rank(path) {
  const place = longFiles.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return place === -1 ? longFiles.length : place;
}

function testsIn(folder) {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return testsIn(path);
    return path.endsWith('.test.ts') ? [path] : [];
  });
}
