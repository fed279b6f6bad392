/** Prepares an arm64 cross build: a compiler, two libraries, a glibc and the runtime. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';
import { again, provideCrossCompiler, SetupError } from '../setup.mjs';
import { unpackDebian } from './debian.mjs';

const folder = join(repositoryRoot, 'dist/.arm64');
const runtimePackage = '@oven/bun-linux-aarch64';
const ripgrepPackage = '@vscode/ripgrep-linux-arm64';
const musl = 'lib/aarch64-linux-musl';

/**
 * @returns {{arch: string, runtime: string, ripgrep: string, glibcRoot: string, cross: import('../../native/build.mjs').Cross}}
 * `glibcRoot` holds the libraries that the release carries; `runtime` is bun for arm64, `ripgrep` a program.
 */
export function prepareArm64() {
  provideCrossCompiler();
  mkdirSync(folder, { recursive: true });
  const root = unpackDebian({
    architecture: 'arm64',
    packages: ['libc6', 'musl-dev', 'libzstd-dev'],
    folder: join(folder, 'debian'),
  });
  const cross = {
    arch: 'arm64',
    compiler: ['aarch64-linux-gnu-gcc', `-specs=${writeSpecs(root)}`],
    zstd: {
      library: join(root, 'usr/lib/aarch64-linux-gnu/libzstd.a'),
      headers: join(root, 'usr/include'),
    },
  };
  const runtime = fetchProgram(runtimePackage, 'bin/bun');
  return { arch: 'arm64', runtime, ripgrep: fetchProgram(ripgrepPackage, 'bin/rg'), glibcRoot: root, cross };
}

/** musl's own specs turn a gcc into a musl-gcc. The specs contain paths of an installed package, which are replaced. */
function writeSpecs(root) {
  const specs = readFileSync(join(root, 'usr', musl, 'musl-gcc.specs'), 'utf8');
  const path = join(folder, 'musl-gcc.specs');
  writeFileSync(
    path,
    specs.replaceAll(/\/usr\/(include|lib)\/aarch64-linux-musl/g, (_, kind) =>
      join(root, 'usr', kind, 'aarch64-linux-musl'),
    ),
  );
  return path;
}

/** The lockfile lists the packages for arm64, but npm does not install them on this machine. */
function fetchProgram(name, program) {
  const { version, integrity } = JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${name}`
  ];
  const target = join(folder, `${basename(program)}-${version}`);
  if (existsSync(target)) return target;
  const draft = join(folder, `npm.${process.pid}`);
  mkdirSync(draft, { recursive: true });
  try {
    const archive = packFromNpm(`${name}@${version}`, draft);
    assertIntegrity(archive, integrity);
    ended('tar', spawnSync('tar', ['-xzf', archive, `package/${program}`], { cwd: draft, encoding: 'utf8' }));
    renameSync(join(draft, 'package', program), target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}

function packFromNpm(name, destination) {
  console.log(`setup: npm pack ${name}`);
  const args = ['pack', '--json', '--loglevel=error', '--pack-destination', destination, name];
  let packed;
  again(() => (packed = spawnSync('npm', args, { cwd: destination, encoding: 'utf8' })).status === 0);
  return join(destination, JSON.parse(ended('npm', packed).stdout)[0].filename);
}

function assertIntegrity(archive, integrity) {
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new SetupError(`${archive} is not what package-lock.json names`);
}

function ended(program, result) {
  if (result.status !== 0) throw new SetupError(`${program} failed: ${result.error ?? result.stderr}`);
  return result;
}
