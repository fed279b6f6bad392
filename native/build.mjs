/** Builds the native program: `node native/build.mjs [--sanitize]`, or `buildNative()` from another script. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

const advice =
  'no C compiler found: install one ' +
  '(Debian and Ubuntu: apt-get install musl-tools; Alpine: apk add build-base; Fedora: dnf install gcc glibc-static)';

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
  if (!compiler) throw new BuildError(advice);
  return compiler;
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
  const { status, stderr } = spawnSync(compiler, [...flags, '-o', draft, ...sources], { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(draft, { force: true });
    throw new BuildError(`${compiler} failed:\n${stderr}`);
  }
  renameSync(draft, target);
  writeFileSync(`${target}.stamp`, print);
  if (!quiet) console.log(`built ${target} with ${compiler}`);
}

/** Builds when a source or a flag has changed, and returns the program's path. */
export function buildNative(options = {}) {
  const isSanitized = options.sanitize ?? false;
  const compiler = chooseCompiler(isSanitized ? sanitizeCompilers : releaseCompilers);
  const command = [compiler, ...common, ...(isSanitized ? sanitize : release)];
  const target = join(buildFolder, isSanitized ? 'sandboxd-native-sanitize' : 'sandboxd-native');
  const print = fingerprint(command);
  if (!isFresh(target, print)) compile(command, target, print, options.quiet ?? false);
  return target;
}

function main() {
  try {
    const target = buildNative({ sanitize: process.argv.includes('--sanitize'), quiet: true });
    console.log(target);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`native: ${error.message}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
