/** Builds dist/sandboxd: the compiled daemon and its C library inside the native program, one file. Plain Node 18. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';
import { prepareArm64 } from './release/arm64.mjs';
import { buildNative, runTool, setup, SetupError } from './setup.mjs';

const dist = join(repositoryRoot, 'dist');
/** What runs in a thread of its own is an entry of its own (`daemon/src/platform/workers.ts`). */
const workers = ['daemon/src/core/files/grep/worker.ts', 'daemon/src/core/terminals/screen-pattern-worker.ts'];

await runTool(async () => {
  const { bun, native } = await setup({ compiler: true });
  mkdirSync(dist, { recursive: true });
  const target = chooseTarget(process.argv.slice(2), native);
  const daemon = join(dist, `.daemon.${process.pid}`);
  const packed = join(dist, `.sandboxd.${process.pid}`);
  try {
    compileDaemon(bun, target.runtime, daemon);
    runBun(bun, ['tools/release/pack.ts', target.native, daemon, target.glibcRoot, packed]);
    renameSync(packed, join(dist, target.name));
  } finally {
    for (const path of [daemon, packed]) rmSync(path, { force: true });
  }
  console.log(`dist/${target.name}: ${(statSync(join(dist, target.name)).size / 2 ** 20).toFixed(1)} MiB`);
  return 0;
});

/** This machine's own architecture, or the one that is named with `--arch`. */
function chooseTarget(args, native) {
  if (args.length === 0) return { name: 'sandboxd', native, runtime: null, glibcRoot: '/' };
  if (args.join('=') !== '--arch=arm64') throw new SetupError('build.mjs takes --arch arm64, or nothing');
  const { runtime, glibcRoot, cross } = prepareArm64();
  return { name: 'sandboxd-arm64', native: buildNative({ cross }), runtime, glibcRoot };
}

/**
 * Without the two autoload flags the binary would run code from the directory it is started in. What is imported later
 * lies in a piece of its own: docs/decisions/0010-start.md.
 */
function compileDaemon(bun, runtime, outfile) {
  runBun(bun, [
    'build',
    '--compile',
    '--minify',
    '--bytecode',
    '--format=esm',
    '--splitting',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    ...(runtime === null ? [] : [`--compile-executable-path=${runtime}`]),
    ...commitDefinition(),
    'daemon/src/main.ts',
    ...workers,
    '--outfile',
    outfile,
  ]);
}

/** The commit that /v2/sandbox tells; a tree without git is built all the same. */
function commitDefinition() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
  const commit = stdout?.trim();
  return commit ? ['--define', `SANDBOXD_COMMIT=${JSON.stringify(commit)}`] : [];
}

function runBun(bun, args) {
  const result = spawnSync(bun, args, { cwd: repositoryRoot, encoding: 'utf8' });
  if (result.status !== 0) throw new SetupError(`bun ${args[0]} failed:\n${result.stdout}${result.stderr}`);
}
