/** The tiers of tests: what each runs, in which order, and what has to be made before. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';

const conformance = (...names) => names.map((name) => `test/conformance/${name}`);

/**
 * What depends on the program that was started: its embedded files, its core, and the file that an upgrade replaces.
 * The sources and the binary are the same TypeScript, compiled for the same runtime, so a pass of any other file on the
 * binary proves the same for the sources. With the binary tier, the sources run these alone.
 */
const differsInTheBinary = [
  ...conformance('adopted', 'cli.', 'doctor', 'documents', 'failed-upgrade', 'identity', 'lifecycle', 'operations'),
  ...conformance('code-sessions', 'desktop-worker', 'terminal-sessions', 'terminal-upgrade', 'upgrade'),
  ...['test/promises/1-no-byte-lost', 'test/promises/4-kill', 'test/promises/8-zombies', 'test/promises/9-key'],
];

/**
 * Bare roots have no interpreters, which `adopted`, `documents`, `recipes` and `failed-upgrade` also need, and the death of PID 1 ends its namespace. The wire format,
 * v1, the cost of thousands of objects, the look of a screen, and what a gateway, a browser, a display and clients of MCP
 * outside of the root see are the same in every root.
 */
const sameInEveryRoot = [
  ...[
    'test/openapi/',
    'test/promises/10-',
    'test/promises/7-large-bodies',
    'test/engines/e2b-code',
    'test/engines/e2b-create',
    'test/engines/e2b-load',
    'test/engines/e2b-survives',
    'test/engines/kep-539/',
    ...['ends', 'files', 'ports', 'survives'].map((part) => `test/engines/agent-sandbox-${part}`),
  ],
  ...conformance(
    'browser',
    'desktop-',
    'mcp-',
    'activity',
    'code',
    'console',
    'gateway',
    'v1-',
    ...['attach', 'code', 'completions', 'cp', 'https', 'mcp', 'open', 'screenshot', 'status', 'watch'].map(
      (verb) => `cli-${verb}`,
    ),
    'client',
    'bad-archives',
    'file-walks',
    'files-model',
    'hostile-clients',
    'http',
    'encodings',
    'adopted',
    'failed-upgrade',
    'documents',
    'recipes',
    'restore',
    'v2-clients',
    ...['error-codes', 'messages', 'misspelt-calls', 'origins', 'parser-fuzz', 'frames-fuzz', 'text-form', 'tracing'],
    'mcp.',
  ),
  ...['bad-input', 'fuzz', 'recording', 'relay', 'screen', 'socket', 'tmux'].flatMap((part) =>
    conformance(`terminal-${part}`),
  ),
];

/**
 * The musl root shows that files and the surfaces of E2B and agent-sandbox need no tool of the image; busybox would show
 * the same. A PID namespace changes processes and not files.
 */
const sameAsInMusl = [
  ...conformance('download', 'file-', 'files', 'tree', 'upload', 'watch'),
  ...['test/engines/agent-sandbox-clients', 'test/engines/e2b-', 'test/promises/5-whole-files'],
];

/** Files that mostly wait, for example three minutes without output. Two of them run beside the others. */
const waitingFiles = [
  'v1-shell-exec',
  'terminal-start-up',
  'terminal-socket',
  'limits-of-the-machine',
  'v1-bash',
  'survival',
  'http-rules',
  'restore',
];

/** The longest files start first in their tier, so that none runs alone at the end. Heavy ones are not neighbours. */
const longFiles = [
  ...[
    'code-limits',
    'browser-tasks',
    'browser-editors',
    'terminal-exec',
    'code-external',
    'browser-actions',
    'terminal-tmux',
  ],
  ...['v1-python-client', 'openapi', 'code-kernel', 'mcp-clients', 'desktop-accessibility'],
  ...['code-hostile', 'code-isolation', 'upgrade', 'code-environments', 'watch', '1-any-offset', 'terminal-relay'],
  ...['cli-attach', 'console', 'code-languages', 'upload', 'v1-nodejs', 'terminal-fuzz', 'v1-clients-wire'],
  ...['console-fonts', 'tree', 'cli', '5-whole-files', 'code-sessions', 'terminal-sessions', 'v1-shell'],
];

/** Folders with tiers of their own; `npm run images -- test` runs the tests of the images. */
const ofOtherTiers = [
  'test/release/',
  'test/clones/',
  'test/arm64/',
  'test/images/',
  'test/tasks/',
  'test/soak/',
  'test/deploy/',
  'test/engines/go/',
  'test/engines/older/',
  'test/frameworks/',
  'test/site/',
];

/**
 * A tier runs the tests of a folder; `before` makes what they need. Names given as arguments select tiers; `--all`
 * selects also those that run by name only, because they need more than a newcomer may have.
 */
export const tiers = [
  { name: 'tidy', folder: 'tools' },
  { name: 'plain native', folder: 'native' },
  {
    name: 'sanitized native',
    folder: 'native',
    env: { BOXKEEP_NATIVE: join(repositoryRoot, 'native/build/boxkeep-native-sanitize') },
    before: [['native/build.mjs', '--sanitize']],
    onlyByName: true, // Needs the sanitizers of gcc, which a newcomer's compiler may not have.
  },
  { name: 'unit', folder: 'daemon/src', except: ['daemon/src/assets/names/'], before: [['tools/test-programs.mjs']] },
  { name: 'bench', folder: 'bench' },
  {
    name: 'conformance on source',
    folder: 'test',
    except: ofOtherTiers,
    besideBinary: differsInTheBinary,
    env: { BOXKEEP_TARGET: 'compiled', BOXKEEP_COUNTS: 'short' }, // The binary tier runs what this leaves out.
    before: [['tools/test-programs.mjs'], ['tools/test-daemon.mjs']],
  },
  {
    name: 'conformance on binary',
    folder: 'test',
    except: ofOtherTiers,
    env: { BOXKEEP_TARGET: 'binary' },
    before: [['tools/test-programs.mjs'], ['tools/build.mjs']],
    onlyByName: true, // Takes three times as long as the sources and proves nothing else while the code is written.
  },
  {
    name: 'release',
    folder: 'test/release',
    before: [['tools/build.mjs'], ['tools/build.mjs', '--arch', 'arm64'], ['tools/site.mjs']],
    onlyByName: true, // Needs root, packages of Debian and a second compiler, and installs the packages of site/.
  },
  {
    name: 'deploy',
    folder: 'test/deploy',
    except: ['test/deploy/claim/'],
    before: [['tools/deploy/programs.mjs']],
    onlyByName: true, // Needs Go, root and packages of Debian.
  },
  {
    name: 'release on arm64',
    folder: 'test/arm64',
    env: { BOXKEEP_TARGET: 'arm64' },
    before: [['tools/build.mjs', '--arch', 'arm64'], ['tools/release/emulation.mjs']],
    onlyByName: true, // Needs root, packages of Debian, and a kernel that starts programs of other machines.
  },
  {
    name: 'site',
    folder: 'test/site',
    before: [['tools/test-programs.mjs'], ['tools/site.mjs']],
    onlyByName: true, // Installs the packages of site/.
  },
  {
    name: 'desktop tasks',
    folder: 'test/tasks',
    env: { BOXKEEP_TARGET: 'compiled' },
    before: [['tools/test-programs.mjs'], ['tools/test-daemon.mjs']],
    // Beside other work, about one of 200 tasks fails: a key, a paste or a click is lost.
    onlyByName: true,
    exceptWithAll: true,
  },
  {
    name: 'proof: names',
    folder: 'daemon/src/assets/names',
    before: [['tools/test-packages.mjs', 'component-libraries']],
    onlyByName: true, // Installs 2.4 GB of component libraries.
    exceptWithAll: true,
  },
  {
    name: 'proof: clients',
    folder: 'test/engines/older',
    env: { BOXKEEP_TARGET: 'compiled' },
    before: [['tools/test-programs.mjs'], ['tools/test-daemon.mjs']],
    onlyByName: true, // Takes minutes, and tests what the newest clients test too.
    exceptWithAll: true, // tools/clients-ci.mjs runs it when what it covers has changed.
  },
  {
    name: 'proof: frameworks',
    folder: 'test/frameworks',
    env: { BOXKEEP_TARGET: 'binary' },
    before: [['tools/test-programs.mjs'], ['tools/build.mjs']],
    onlyByName: true, // Installs the frameworks, and tests nothing of the daemon that other tiers do not.
    exceptWithAll: true,
  },
  {
    name: 'proof: clones',
    folder: 'test/clones',
    onlyByName: true, // Makes two releases from clones, each with packages, both compilers and the site.
    exceptWithAll: true,
  },
  {
    name: 'proof: clients in Go',
    folder: 'test/engines/go',
    env: { BOXKEEP_TARGET: 'binary' },
    before: [['tools/build.mjs']],
    onlyByName: true, // Needs Go, and compiles the clients, which takes minutes.
    exceptWithAll: true,
  },
  {
    name: 'proof: claim',
    folder: 'test/deploy/claim',
    env: { BOXKEEP_TARGET: 'binary' },
    before: [['tools/build.mjs'], ['tools/deploy/programs.mjs'], ['tools/deploy/cluster.mjs']],
    onlyByName: true, // Compiles the API server of Kubernetes, which takes minutes and gigabytes.
    exceptWithAll: true,
  },
  ...['musl', 'busybox', 'pid1'].map((root) => ({
    name: `conformance in root ${root}`,
    folder: 'test',
    except: [...ofOtherTiers, ...sameInEveryRoot, ...(root === 'musl' ? [] : sameAsInMusl)],
    env: { BOXKEEP_TARGET: 'binary', BOXKEEP_ROOT: root },
    before: [['tools/build.mjs']],
    onlyByName: true, // Needs root, and packages of Debian.
  })),
];

/** The files of a tier, in the order in which they are started. */
export function filesOf({ folder, except = [], besideBinary }, hasBinary) {
  const isOneOf = (starts) => (path) => starts.some((start) => path.startsWith(start));
  const tests = testsIn(folder).filter((path) => !isOneOf(except)(path));
  const all = hasBinary && besideBinary ? tests.filter(isOneOf(besideBinary)) : tests;
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
