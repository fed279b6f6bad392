/** Installs programs that a peer needs, and announces each installation. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

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
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const place = join(cache, 'boxkeep-bench', name);
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
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const place = join(cache, 'boxkeep-bench', name);
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

/** Runs a program and throws if it fails. */
export function must(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().trim()}`);
}
