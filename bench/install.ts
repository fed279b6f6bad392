/** Brings programs that a peer needs, and says so first. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** While this file says no, Debian's packages start no services. */
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

/** Runs a program that has to succeed. */
export function must(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().trim()}`);
}
