/** Places the program under test: on this machine, or in the root that BOXKEEP_ROOT names. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { debianFiles } from './debian-files.ts';

const repositoryRoot = dirname(dirname(import.meta.dirname));

/** `musl` has musl, busybox and bash. `busybox` has only busybox. `pid1` is this machine with a PID namespace. */
const kinds = ['machine', 'musl', 'busybox', 'pid1'] as const;
export type RootKind = (typeof kinds)[number];

export const rootKind = readKind();

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** The prefix that runs a command in the root, as an account without supplementary groups. */
export function enter(account: Ids | null): string[] {
  const privileges = account
    ? [tool('setpriv'), `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
    : [];
  if (rootKind === 'machine') return privileges;
  if (rootKind === 'pid1') return [tool('unshare'), '--pid', '--fork', '--mount-proc', '--kill-child', ...privileges];
  const ids = account ? [`--userspec=${account.uid}:${account.gid}`, '--groups='] : [];
  return [tool('unshare'), '--mount', tool('sh'), '-c', enterRoot(), 'sh', makeRoot(rootKind), ...ids];
}

/** Whether the root under test has a program. */
export function hasProgram(name: string): boolean {
  if (rootKind === 'machine' || rootKind === 'pid1') return Bun.which(name) !== null;
  return existsSync(join(makeRoot(rootKind), 'bin', name));
}

/** The absolute path of a tool, because a test may set a PATH without these tools. */
export function tool(name: string): string {
  const path = Bun.which(name);
  if (path === null) throw new Error(`needs ${name}`);
  return path;
}

/** Paths are the same inside and outside, so that the test and the daemon find each other's files. */
const shared = ['/proc', '/sys', '/dev', ...new Set(['/tmp', tmpdir(), repositoryRoot])];
const sharedFiles = ['/etc/passwd', '/etc/group'];
const enterRoot = (): string => `root=$1; shift
for place in ${[...shared, ...sharedFiles].join(' ')}; do ${tool('mount')} --rbind "$place" "$root$place" || exit; done
ids=; case $1 in --userspec=*) ids="$1 $2"; shift 2;; esac
exec ${tool('chroot')} $ids "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"`;

/** Made once for a clone. When two processes make it at the same time, the first to finish wins. */
function makeRoot(kind: 'musl' | 'busybox'): string {
  const made = join(repositoryRoot, 'dist/.roots', kind);
  if (existsSync(made)) return made;
  const root = `${made}.${process.pid}`;
  for (const place of ['bin', 'usr/lib', 'lib', 'etc', 'root', 'var', 'run', ...shared])
    mkdirSync(join(root, place), { recursive: true });
  for (const file of sharedFiles) writeFileSync(join(root, file), '');
  for (const link of ['sbin', 'usr/bin', 'usr/sbin']) symlinkSync('/bin', join(root, link));
  addBusybox(root);
  if (kind === 'musl') addMusl(root);
  if (existsSync(made)) rmSync(root, { recursive: true });
  else renameSync(root, made);
  return made;
}

function addBusybox(root: string): void {
  const busybox = join(root, 'bin/busybox');
  copyFileSync(join(debianFiles(), 'bin/busybox'), busybox);
  const names = spawnSync(busybox, ['--list'], { encoding: 'utf8' }).stdout.split('\n');
  for (const name of names.filter((name) => name && name !== 'busybox')) linkSync(busybox, join(root, 'bin', name));
}

function addMusl(root: string): void {
  const loader = `ld-musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
  for (const [from, to] of [
    [`lib/${loader}`, `lib/${loader}`],
    ['bin/bash-static', 'bin/bash'],
  ] as const) {
    copyFileSync(join(debianFiles(), from), join(root, to));
    chmodSync(join(root, to), 0o755);
  }
}

function readKind(): RootKind {
  const name = process.env['BOXKEEP_ROOT'] ?? 'machine';
  const kind = kinds.find((known) => known === name);
  if (!kind) throw new Error(`BOXKEEP_ROOT is one of ${kinds.join(', ')}`);
  return kind;
}
