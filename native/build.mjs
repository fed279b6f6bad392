/** Builds the native program: `node native/build.mjs [--sanitize] [--keeper-version=N]`, or `buildNative()` from another script. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const buildFolder = join(folder, 'build');

const warnings = [
  '-Wall',
  '-Wextra',
  '-Wshadow',
  '-Wconversion',
  '-Wno-sign-conversion',
  '-Wvla',
  '-Wstrict-prototypes',
  '-Werror',
];
const common = ['-std=gnu11', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', ...warnings];
const release = [
  '-Os',
  '-static',
  '-ffunction-sections',
  '-fdata-sections',
  '-fstack-protector-strong',
  '-Wl,--gc-sections',
  '-s',
];
const sanitize = ['-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

/** Compilers in order of preference; musl makes a small program that runs everywhere. */
const releaseCompilers = ['musl-gcc', 'cc'];
const sanitizeCompilers = ['gcc'];

/** The static zstd library; it is linked into the program, and of its parts the decompressor alone is taken. */
const zstdLibrary = 'libzstd.a';
const zstdHeaders = ['zstd.h', 'zstd_errors.h'];

const compilerAdvice =
  'no C compiler found: install one ' +
  '(Debian and Ubuntu: apt-get install musl-tools; Alpine: apk add build-base; Fedora: dnf install gcc glibc-static)';
const zstdAdvice =
  'no static zstd library found: install it ' +
  '(Debian and Ubuntu: apt-get install libzstd-dev; Alpine: apk add zstd-dev zstd-static; ' +
  'Fedora: dnf install libzstd-devel libzstd-static)';

/** A reason that is meant for people: one line, no stack. */
export class BuildError extends Error {}

function sourceFiles() {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.c') || name.endsWith('.h'))
    .sort();
}

function isThere(compiler) {
  return spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0;
}

function chooseCompiler(candidates) {
  const compiler = candidates.find(isThere);
  if (!compiler) throw new BuildError(compilerAdvice);
  return compiler;
}

/** Where the static zstd library and its headers are; null when they are not there. */
export function findZstd() {
  const searched = spawnSync('cc', [`-print-file-name=${zstdLibrary}`], { encoding: 'utf8' }).stdout?.trim() ?? '';
  const library = [searched, `/usr/lib/${zstdLibrary}`, `/usr/lib64/${zstdLibrary}`].find(
    (path) => path.startsWith('/') && existsSync(path),
  );
  const headers = '/usr/include';
  return library && zstdHeaders.every((name) => existsSync(join(headers, name))) ? { library, headers } : null;
}

/** The headers alone: the rest of /usr/include belongs to a C library that need not be the compiler's. */
function zstdFlags({ library, headers }, folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of zstdHeaders) copyFileSync(join(headers, name), join(folder, name));
  return [`-I${folder}`, library];
}

/** Content, not times: a fresh checkout has new times and the same program. */
function fingerprint(command) {
  const hash = createHash('sha256').update(JSON.stringify(command));
  for (const name of sourceFiles())
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}

function isFresh(target, print) {
  const stamp = `${target}.stamp`;
  return existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print;
}

/** Renamed into place, so that a running program and a second build at the same time do no harm. */
function compile(command, target, print, quiet) {
  const draft = `${target}.${process.pid}`;
  const sources = sourceFiles()
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(folder, name));
  mkdirSync(buildFolder, { recursive: true });
  const [compiler, ...flags] = command;
  const { status, stderr } = spawnSync(compiler, ['-o', draft, ...sources, ...flags], { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(draft, { force: true });
    throw new BuildError(`${compiler} failed:\n${stderr}`);
  }
  renameSync(draft, target);
  writeFileSync(`${target}.stamp`, print);
  if (!quiet) console.log(`built ${target} with ${compiler}`);
}

function chooseZstd() {
  const zstd = findZstd();
  if (!zstd) throw new BuildError(zstdAdvice);
  return zstd;
}

/**
 * Builds when a source or a flag has changed, and returns the program's path.
 * @param {{sanitize?: boolean, quiet?: boolean, keeperVersion?: string, cross?: Cross}} [options] `cross` builds for another machine.
 * Keepers of an older version are for tests.
 * @typedef {{arch: string, compiler: string[], zstd: {library: string, headers: string}}} Cross
 */
export function buildNative({ sanitize: isSanitized = false, quiet = false, keeperVersion, cross } = {}) {
  const compiler = cross?.compiler ?? [chooseCompiler(isSanitized ? sanitizeCompilers : releaseCompilers)];
  const older = keeperVersion ? `-keeper-${keeperVersion}` : '';
  const suffix = cross ? `-${cross.arch}` : `${isSanitized ? '-sanitize' : ''}${older}`;
  const target = join(buildFolder, `boxkeep-native${suffix}`);
  const zstd = zstdFlags(cross?.zstd ?? chooseZstd(), `${target}.headers`);
  const command = [...compiler, ...common, ...(isSanitized ? sanitize : release), ...zstd];
  if (keeperVersion) command.push(`-DKEEPER_VERSION=${keeperVersion}`);
  const print = fingerprint(command);
  if (!isFresh(target, print)) compile(command, target, print, quiet);
  return target;
}

function main() {
  try {
    const keeperVersion = process.argv.find((word) => word.startsWith('--keeper-version='))?.split('=')[1];
    const target = buildNative({ sanitize: process.argv.includes('--sanitize'), keeperVersion, quiet: true });
    console.log(target);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`native: ${error.message}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
