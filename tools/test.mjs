/** `npm test`: every tier of tests, from the repository itself to the built binary, and one total at the end. */
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';
import { runTool, setup } from './setup.mjs';
import { TestQueue } from './test-queue.mjs';

/** One for each core, beside one that mostly waits: more would save minutes, and take from tests the time that they count on. */
const filesAtOnce = Math.min(cpus().length, 8);

const conformance = (...names) => names.map((name) => `test/conformance/${name}`);

/**
 * What floods the daemon, stalls it, draws at random or counts by thousands: the sources and the binary are the same
 * TypeScript on the same runtime, so that it proves the same for both. It is done to the one that is given away.
 */
const sameInTheBinary = [
  ...['test/openapi/', 'test/promises/10-'],
  ...conformance('bad-archives', 'code-languages', 'code-limits', 'file-walks', 'files-model', 'hostile-clients'),
  ...conformance('terminal-fuzz', 'terminal-relay', 'terminal-tmux'),
];

/** The bare ones have no interpreters. What the wire allows and v1 makes of it, what thousands of something cost, and how a screen looks is the same in every root. */
const sameInEveryRoot = [
  ...['test/openapi/', 'test/promises/10-'],
  ...conformance(
    'code',
    'console',
    'v1-',
    'cli-attach',
    'bad-archives',
    'file-walks',
    'files-model',
    'hostile-clients',
    'http',
  ),
  ...['bad-input', 'fuzz', 'recording', 'relay', 'screen', 'socket', 'tmux'].flatMap((part) =>
    conformance(`terminal-${part}`),
  ),
];

/**
 * The musl root shows that files need nothing of a machine. The busybox root has less of the same, which no file is
 * about; and in a PID namespace other processes are there and end otherwise, while the files are those of the machine.
 */
const sameAsInMusl = conformance('download', 'file-', 'files', 'tree', 'upload', 'watch');

/** They mostly wait: for three quiet minutes, for half a minute without a word, for limits of time. One runs beside the others. */
const waitingFiles = ['v1-shell-exec', 'terminal-socket', 'limits-of-the-machine', 'v1-bash', 'survival', 'http-rules'];

/** They take longest, and are started first in their tier: none is left alone at the end. Those that work hardest are apart. */
const longFiles = [
  ...['code-limits', 'terminal-exec', 'code-external', 'cli-attach', 'code-languages', 'upgrade', 'terminal-relay'],
  ...['watch', 'roots', 'terminal-tmux', 'code-kernel', 'terminal-fuzz', 'cli', 'v1-file-search', 'openapi'],
  ...['code-hostile', 'file-trees', '7-survives-its-users', 'v1-nodejs', '5-whole-files', 'bad-archives'],
  ...['v1-shell', 'terminal-sessions', 'code-environments', 'code-isolation'],
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
    except: ['test/release/', ...sameInEveryRoot, ...(root === 'musl' ? [] : sameAsInMusl)],
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
  const queue = new TestQueue(chosen.map((tier) => ({ ...tier, ...filesOf(tier) })));
  const { passed, failed, told } = await queue.run(filesAtOnce);
  if (told.length > 0) console.log(`\n== what failed\n${told.join('\n')}\n`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

/** The files of a tier, in the order in which they are started. */
function filesOf({ folder, except = [] }) {
  const all = testsIn(folder).filter((path) => !except.some((start) => path.startsWith(start)));
  return {
    files: all.filter((path) => place(path, waitingFiles) === -1).sort(byLength),
    waitingFiles: all.filter((path) => place(path, waitingFiles) !== -1),
  };
}

function byLength(one, other) {
  const [first, second] = [one, other].map((path) => place(path, longFiles));
  return (first === -1 ? longFiles.length : first) - (second === -1 ? longFiles.length : second);
}

function place(path, names) {
  return names.findIndex((name) => path.endsWith(`/${name}.test.ts`));
}

function testsIn(folder) {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return testsIn(path);
    return path.endsWith('.test.ts') ? [path] : [];
  });
}
