/** Prepares a fresh clone to run the daemon from source, and prints its steps. Needs only Node and npm. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildConsole } from '../console/build.mjs';
import { BuildError, buildNative as buildProgram, findZstd } from '../native/build.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';

const oldestNode = 18;
const modules = join(repositoryRoot, 'node_modules');
const lockfile = join(repositoryRoot, 'package-lock.json');
const stamp = join(modules, '.installed-lockfile');

/** Programs and libraries that npm packages cannot provide. `packages` are Debian's names. */
const systemNeeds = {
  compiler: {
    what: 'a C compiler',
    isThere: () => ['musl-gcc', 'cc', 'gcc'].some(isOnPath),
    packages: ['musl-tools', 'gcc', 'libc6-dev'],
    otherwise:
      'install musl-tools and gcc (Debian, Ubuntu), gcc and musl-dev (Alpine) or gcc and glibc-static (Fedora)',
  },
  zstd: {
    what: 'the static zstd library',
    isThere: () => findZstd() !== null,
    packages: ['libzstd-dev'],
    otherwise:
      'install libzstd-dev (Debian, Ubuntu), zstd-dev and zstd-static (Alpine) ' +
      'or libzstd-devel and libzstd-static (Fedora)',
  },
  crossCompiler: {
    what: 'a C compiler for arm64',
    isThere: () => isOnPath('aarch64-linux-gnu-gcc'),
    packages: ['gcc-aarch64-linux-gnu'],
    otherwise: 'install gcc-aarch64-linux-gnu on Debian or Ubuntu',
  },
  python: {
    what: 'Python 3',
    isThere: () => isOnPath('python3'),
    packages: ['python3'],
    otherwise: 'install python3',
  },
};

/** A failure that the user can fix. It is printed as one line, without a stack. */
export class SetupError extends Error {}

/** What `setup`, and `provide` of further needs, would install or ask for, a line each. Installs nothing. */
export function missingParts(furtherNeeds = []) {
  checkMachine();
  const needs = [systemNeeds.compiler, systemNeeds.zstd, ...furtherNeeds].filter(({ isThere }) => !isThere());
  return [
    ...(isInstalled() ? [] : [`installs npm packages of package-lock.json, into ${modules}`]),
    ...needs.map(({ what, packages, otherwise }) =>
      canInstall() ? `installs ${what} with apt-get: ${packages.join(', ')}` : `needs ${what}: ${otherwise}`,
    ),
  ];
}

/**
 * Checks Node, installs the packages when the lockfile changed, and builds the console page and the native program.
 * System dependencies are found or, as root on Debian, installed.
 * @param {{compiler?: boolean, python?: boolean}} [needs] `compiler: false` skips the native program.
 * @returns {Promise<{bun: string, native: string
 * null}>} the paths of the runtime and the native program
 */
export async function setup({ compiler = true, python = false } = {}) {
  checkMachine();
  if (!isInstalled()) install();
  checkRuntime();
  if (compiler) {
    provide(systemNeeds.compiler);
    provide(systemNeeds.zstd);
  }
  if (python) provide(systemNeeds.python);
  buildConsole(bunPath());
  return { bun: bunPath(), native: compiler ? buildNative() : null };
}

/** Runs a tool's main function. Its result is the exit code, and a SetupError is printed as one line. */
export async function runTool(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

function checkMachine() {
  const [major = '0'] = process.versions.node.split('.');
  if (Number(major) < oldestNode) throw new SetupError(`needs Node ${oldestNode} or newer; this is ${process.version}`);
  if (process.platform !== 'linux') throw new SetupError(`boxkeep is a Linux daemon; this is ${process.platform}`);
}

function isInstalled() {
  const installed = join(modules, '.package-lock.json');
  if (!existsSync(installed) || !existsSync(bunInstaller)) return false;
  if (readStamp() === digest()) return true;
  // A manual npm ci or npm install counts as well: npm writes its record after the lockfile has changed.
  if (statSync(installed).mtimeMs < statSync(lockfile).mtimeMs) return false;
  writeStamp();
  return true;
}

function writeStamp() {
  try {
    writeFileSync(stamp, digest());
  } catch (error) {
    // Another account installed the packages. Without the stamp, the file times decide again next time.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}

const bunInstaller = join(modules, 'bun/install.js');
const digest = () => createHash('sha256').update(readFileSync(lockfile)).digest('hex');
const readStamp = () => (existsSync(stamp) ? readFileSync(stamp, 'utf8') : null);

function install() {
  console.log('setup: npm ci (packages are missing or older than package-lock.json)');
  // Overrides settings that omit dev or optional dependencies: the tools are the former, the runtime is the latter.
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const underNpm = process.env.npm_execpath?.includes('npm-cli') ? process.env.npm_execpath : null;
  const run = underNpm ? visible(process.execPath, [underNpm, ...args]) : visible('npm', args);
  if (run.error) throw new SetupError(`npm could not be started: ${run.error.message}`);
  if (run.status !== 0) throw new SetupError('npm ci failed; its own message is above');
  writeStamp();
}

function checkRuntime() {
  const { devDependencies } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
  if (bunVersion() === devDependencies.bun) return;
  // npm can be configured to skip install scripts. This script installs the runtime for this machine.
  console.log('setup: node node_modules/bun/install.js (its install script has not run)');
  visible(process.execPath, [bunInstaller]);
  const found = bunVersion();
  if (found !== devDependencies.bun) {
    throw new SetupError(`bun ${devDependencies.bun} does not run here (found ${found || 'nothing that starts'})`);
  }
}

function bunVersion() {
  if (!existsSync(join(modules, '.bin/bun'))) return '';
  return spawnSync(bunPath(), ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** The cross compiler, for builds for another machine. */
export function provideCrossCompiler() {
  provide(systemNeeds.crossCompiler);
}

/** Installs the packages of a need unless it is already met. */
export function provide({ what, isThere, packages, otherwise }) {
  if (isThere()) return;
  if (!canInstall()) throw new SetupError(`needs ${what}: ${otherwise}, then run this again`);
  console.log(`setup: ${what} is missing; apt-get installs ${packages.join(', ')}`);
  if (!installPackages(packages)) throw new SetupError(`apt-get failed: ${otherwise}, then run this again`);
}

function canInstall() {
  return process.getuid?.() === 0 && isOnPath('apt-get');
}

/**
 * Downloads into a directory of its own: in container images of Debian, `apt-get update` deletes the shared archives,
 * also while another process, such as a test that installs its programs, unpacks them.
 */
function installPackages(packages) {
  const archives = mkdtempSync(join(tmpdir(), 'boxkeep-apt-'));
  chmodSync(archives, 0o755); // The account _apt downloads the packages.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...args) => visible('apt-get', args, { env }).status === 0;
  const place = ['-o', `Dir::Cache::archives=${archives}`];
  const wait = ['-o', 'DPkg::Lock::Timeout=600'];
  try {
    return again(
      () =>
        run('update', '-qq') && run('install', ...place, ...wait, '-y', '-qq', '--no-install-recommends', ...packages),
    );
  } finally {
    rmSync(archives, { recursive: true, force: true });
  }
}

/**
 * Repeats a download that has failed: a server can be busy, and apt does not wait for the lock of its lists.
 * @param {() => boolean} isDone one attempt
 */
export function again(isDone) {
  for (const pauseMs of [5000, 20_000, 60_000]) {
    if (isDone()) return true;
    console.log(`setup: this has failed and is tried again in ${pauseMs / 1000} s`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  return isDone();
}

export function isOnPath(program) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && isExecutable(join(folder, program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // absent or not executable by us: the same answer
  }
}

/** Builds the native program for this machine, or for the machine of `cross`. A failure is one line. */
export function buildNative({ cross } = {}) {
  try {
    return buildProgram({ cross });
  } catch (error) {
    if (error instanceof BuildError) throw new SetupError(error.message);
    throw error;
  }
}

function visible(program, args, options = {}) {
  return spawnSync(program, args, { cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'], ...options });
}
