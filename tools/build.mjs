/** Builds dist/sandboxd: the compiled daemon carried inside the native program, one file. Plain Node 18. */
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';
import { runTool, setup, SetupError } from './setup.mjs';

const dist = join(repositoryRoot, 'dist');
const payloadMagic = 'SVCPAYL1';
const trailerBytes = 64;

await runTool(async () => {
  const { bun, native } = await setup({ compiler: true });
  mkdirSync(dist, { recursive: true });
  const daemon = join(dist, '.daemon');
  const packed = join(dist, '.sandboxd');
  const target = join(dist, 'sandboxd');
  compileDaemon(bun, daemon);
  pack(native, daemon, packed);
  renameSync(packed, target);
  rmSync(daemon);
  console.log(`dist/sandboxd: ${(statSync(target).size / 2 ** 20).toFixed(1)} MiB`);
  return 0;
});

/** Without the two autoload flags the binary would run code from the directory it is started in. */
function compileDaemon(bun, outfile) {
  const args = [
    'build',
    '--compile',
    '--minify',
    '--bytecode',
    '--format=esm',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    `--compile-executable-path=${baseExecutable(bun)}`,
    ...commitDefinition(),
    'daemon/src/main.ts',
    '--outfile',
    outfile,
  ];
  const result = spawnSync(bun, args, { cwd: repositoryRoot, encoding: 'utf8' });
  if (result.status !== 0) throw new SetupError(`bun build failed:\n${result.stdout}${result.stderr}`);
}

/** The commit that /v2/sandbox tells; a tree without git is built all the same. */
function commitDefinition() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
  const commit = stdout?.trim();
  return commit ? ['--define', `SANDBOXD_COMMIT=${JSON.stringify(commit)}`] : [];
}

/** The baseline build runs on processors without AVX2 too; the runtime of this machine serves where it is absent. */
function baseExecutable(bun) {
  const baseline = join(repositoryRoot, 'node_modules/@oven/bun-linux-x64-baseline/bin/bun');
  return existsSync(baseline) ? baseline : realpathSync(bun);
}

/** [native program][daemon][trailer: magic, offset, length, SHA-256, zeros]: see native/README.md. */
function pack(native, payload, outfile) {
  copyFileSync(native, outfile);
  const offset = statSync(outfile).size;
  const bytes = readFileSync(payload);
  const trailer = Buffer.alloc(trailerBytes);
  trailer.write(payloadMagic, 0, 'latin1');
  trailer.writeBigUInt64LE(BigInt(offset), 8);
  trailer.writeBigUInt64LE(BigInt(bytes.length), 16);
  createHash('sha256').update(bytes).digest().copy(trailer, 24);
  appendFileSync(outfile, Buffer.concat([bytes, trailer]));
  chmodSync(outfile, 0o755);
}
