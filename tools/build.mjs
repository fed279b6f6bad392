/** Builds dist/boxkeep: one file with the native program, the compiled daemon and its C library. Runs on Node 18. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, ripgrepPath } from './repository.mjs';
import { prepareArm64 } from './release/arm64.mjs';
import { compileDaemon, runBun } from './release/compile.mjs';
import { buildNative, runTool, setup, SetupError } from './setup.mjs';

const dist = join(repositoryRoot, 'dist');

await runTool(async () => {
  const { bun, native } = await setup({ compiler: true });
  mkdirSync(dist, { recursive: true });
  const target = chooseTarget(process.argv.slice(2), native);
  // The compiled daemon contains the name of its file, which must be the same in each build of a commit.
  const drafts = mkdtempSync(join(dist, '.build-'));
  const daemon = join(drafts, 'daemon');
  const packed = join(drafts, 'boxkeep');
  try {
    const runtime = target.runtime === null ? [] : [`--compile-executable-path=${target.runtime}`];
    compileDaemon(bun, { outfile: daemon, options: ['--minify', ...runtime, ...commitDefinition()] });
    runBun(bun, ['tools/release/pack.ts', target.native, daemon, target.ripgrep, target.glibcRoot, packed]);
    renameSync(packed, join(dist, target.name));
  } finally {
    rmSync(drafts, { recursive: true, force: true });
  }
  console.log(`dist/${target.name}: ${(statSync(join(dist, target.name)).size / 2 ** 20).toFixed(1)} MiB`);
  return 0;
});

/** This machine's own architecture, or the one named with `--arch`. */
function chooseTarget(args, native) {
  if (args.length === 0) return { name: 'boxkeep', native, runtime: null, ripgrep: ripgrepPath(), glibcRoot: '/' };
  if (args.join('=') !== '--arch=arm64') throw new SetupError('build.mjs takes --arch arm64, or nothing');
  const { runtime, ripgrep, glibcRoot, cross } = prepareArm64();
  return { name: 'boxkeep-arm64', native: buildNative({ cross }), runtime, ripgrep, glibcRoot };
}

/** The commit that /v2/sandbox reports. A tree without git is built without it. */
function commitDefinition() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
  const commit = stdout?.trim();
  return commit ? ['--define', `BOXKEEP_COMMIT=${JSON.stringify(commit)}`] : [];
}
