/** `npm test`: every tier of tests in order, from the repository itself to the built binary, and one total at the end. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { failuresIn } from './failures.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';
import { runTool, setup } from './setup.mjs';

const timeoutMs = 30_000;
/** Tests with a daemon of their own wait more than they work. */
const filesAtOnce = 2;

/** The bare ones have no interpreters. What the wire allows and v1 makes of it, what thousands of something cost, and how a screen looks is the same in every root. */
const sameInEveryRoot = [
  ...['release/**', 'openapi/**', 'promises/10-*'],
  'conformance/{code*,console,v1-*,terminal-{bad-input,fuzz,recording,relay,screen,socket,tmux}*,cli-attach*}',
  'conformance/{bad-archives,file-walks,files-model,hostile-clients,http,http-rules}.test.ts',
].join(',');

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
    except: 'test/release/**',
    filesAtOnce,
    env: { SANDBOXD_TARGET: 'source' },
    before: [['tools/test-programs.mjs']],
  },
  {
    name: 'conformance on binary',
    folder: 'test',
    except: 'test/release/**',
    filesAtOnce,
    env: { SANDBOXD_TARGET: 'binary' },
    before: [['tools/test-programs.mjs'], ['tools/build.mjs']],
  },
  ...['musl', 'busybox', 'pid1'].map((root) => ({
    name: `conformance in root ${root}`,
    folder: 'test',
    except: `test/{${sameInEveryRoot}}`,
    filesAtOnce,
    env: { SANDBOXD_TARGET: 'binary', SANDBOXD_ROOT: root },
    before: [['tools/build.mjs']],
    onlyByName: true, // Needs root, and packages of Debian.
  })),
  {
    name: 'release',
    folder: 'test/release',
    before: [['tools/build.mjs'], ['tools/build.mjs', '--arch', 'arm64']],
    onlyByName: true, // Needs root, packages of Debian and a second compiler.
  },
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
  const total = { passed: 0, failed: 0 };
  const told = [];
  for (const tier of chosen) {
    const { passed, failed, failures } = await runTier(tier);
    total.passed += passed;
    total.failed += failed;
    told.push(...failures.map(({ file, title, lines }) => [`-- ${tier.name}: ${file}: ${title}`, ...lines].join('\n')));
  }
  if (told.length > 0) console.log(`\n== what failed\n${told.join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});

async function runTier({ name, folder, except, filesAtOnce, env = {}, before = [] }) {
  console.log(`\n== ${name}`);
  for (const command of before) {
    const { status } = await stream(process.execPath, command);
    if (status !== 0) return problem(name, `${command.join(' ')} failed`, 0, 0);
  }
  const args = ['test', `./${folder}/`, `--timeout=${timeoutMs}`];
  if (except) args.push(`--path-ignore-patterns=${except}`);
  if (filesAtOnce) args.push(`--parallel=${filesAtOnce}`);
  const { status, output } = await stream(bunPath(), args, env);
  const passed = count(output, 'pass');
  const failed = count(output, 'fail');
  if (passed + failed === 0) return problem(name, 'no test ran', passed, failed);
  if (status !== 0 && failed === 0) return problem(name, `the runner ended with ${status}`, passed, failed);
  return { passed, failed, failures: failuresIn(output) };
}

/** What goes wrong outside a test counts as one failure, so that the total can never hide it. */
function problem(tier, what, passed, failed) {
  console.error(`${tier}: ${what}`);
  return { passed, failed: failed + 1, failures: [{ file: 'outside a test', title: what, lines: [] }] };
}

/** Bun ends a run with lines such as ` 12 pass`; a test may print one too, so the last one counts. */
function count(output, word) {
  const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))];
  return Number(lines.at(-1)?.[1] ?? 0);
}

/** Runs a program with its output shown as it comes, and kept. */
function stream(program, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: repositoryRoot,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (target) => (chunk) => {
      output += chunk;
      target.write(chunk);
    };
    child.stdout.setEncoding('utf8').on('data', keep(process.stdout));
    child.stderr.setEncoding('utf8').on('data', keep(process.stderr));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ status: code ?? signal, output }));
  });
}
