/** Installs programs that a peer needs, and announces each installation. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, join } from 'node:path';

/** While this script denies it, Debian's packages start no services. */
const servicePolicy = '/usr/sbin/policy-rc.d';

export function installPackage({ program, name }: { program: string; name: string }): void {
  if (existsSync(program)) return;
  if (userInfo().uid !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new Error(`${program} is missing: install ${name}`);
  console.log(`bench: ${program} is missing; apt-get installs ${name}, without starting its service`);
  const isOurs = !existsSync(servicePolicy);
  if (isOurs) writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    must(['apt-get', 'update', '-qq']);
    must(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', name]);
  } finally {
    if (isOurs) rmSync(servicePolicy);
  }
}

/**
 * A Python virtual environment with packages from PyPI, in the user's cache directory. `program` is one of the
 * programs that the packages install. The first call installs the environment. An environment left by an interrupted
 * call is recreated.
 */
export function virtualEnvironment({ name, packages, program }: VirtualEnvironment): string {
  const place = cached(name);
  if (!existsSync(join(place, 'bin', program))) {
    console.log(`bench: installs ${packages.join(' and ')} from PyPI into ${place}`);
    must(['python3', '-m', 'venv', '--clear', place]);
    must([join(place, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  }
  return place;
}

interface VirtualEnvironment {
  readonly name: string;
  readonly packages: readonly string[];
  readonly program: string;
}

/**
 * A directory with packages from npm, in the user's cache directory. `file` is a file of the packages. The first call
 * installs them, without scripts of the packages and without the browsers that these scripts download.
 */
export function npmPackages({ name, packages, file }: NpmPackages): string {
  const place = cached(name);
  const modules = join(place, 'node_modules');
  if (!existsSync(join(modules, file))) {
    console.log(`bench: installs ${packages.join(' and ')} from npm into ${place}`);
    must(['npm', 'install', '--prefix', place, '--ignore-scripts', '--no-save', '--silent', ...packages]);
  }
  return modules;
}

interface NpmPackages {
  readonly name: string;
  readonly packages: readonly string[];
  readonly file: string;
}

/** A program of a Go module, in the user's cache directory. The first call downloads and compiles the program. */
export function goProgram({ module, version, path }: GoProgram): string {
  const name = basename(path);
  const place = cached(`${name}@${version}`);
  const program = join(place, name);
  if (existsSync(program)) return program;
  if (Bun.which('go') === null) installPackage({ program: '/usr/bin/go', name: 'golang-go' });
  console.log(`bench: go build ${module}/${path}, version ${version}, into ${place}`);
  // `go install` asks for the list of versions too, which a proxy of modules may not have.
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'go.mod'), `module bench\n\nrequire ${module} ${version}\n`);
  // A module may need a newer Go than the one of the system, which then downloads it.
  const environment = {
    GOPATH: cached('go'),
    GOCACHE: cached('go-build'),
    GOFLAGS: '-modcacherw',
    GOTOOLCHAIN: 'auto',
  };
  must(['go', '-C', place, 'build', '-mod=mod', '-o', name, `${module}/${path}`], environment);
  return program;
}

interface GoProgram {
  readonly module: string;
  readonly version: string;
  /** The program's folder in the module. */
  readonly path: string;
}

function cached(name: string): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'boxkeep-bench', name);
}

/** Runs a program and throws if it fails. */
export function must(command: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...environment },
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().trim()}`);
}
