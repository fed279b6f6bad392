/**
 * Releases for tests: the program under test with files that print how they are run, and directories to unpack into.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOf, encodePayload, joinRelease, type CarriedFile, type Trailer } from '../../tools/release/layout.ts';
import { isRoot, program } from './harness.ts';

export const exitCode = 3;
const otherUid = 61234;

/** Replaces the C library's loader, and prints how it was run. */
const loader = `#!/bin/sh\necho "$0 $*"\nexit ${exitCode}\n`;

/** The payload of a test's release: a loader, and a daemon that never runs. */
export function carried(daemon: Uint8Array = Buffer.from('a daemon')): CarriedFile[] {
  return [
    { name: 'boxkeep-daemon', bytes: Buffer.from(loader) },
    { name: 'daemon', bytes: daemon },
  ];
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(command: readonly string[], env: Record<string, string> = {}): Outcome {
  const [first = '', ...rest] = command;
  return spawnSync(first, rest, { encoding: 'utf8', env: environment(env) });
}

export function environment(env: Record<string, string> = {}): Record<string, string> {
  return { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ASAN_OPTIONS: 'detect_leaks=0', ...env };
}

/** Runs in a mount namespace with fresh directories in place of the machine's, so that no test leaves files there. */
export function isolated(prepare: string): string[] {
  const fresh =
    'for place in /var/lib /run; do mount -t tmpfs -o mode=755 tmpfs $place; done; mount -t tmpfs tmpfs /dev/shm';
  return ['unshare', '-m', '/bin/sh', '-c', `${fresh}; ${prepare}; "$@"`, 'sh'];
}

/** The command line with which the daemon of a release runs from a directory. */
export function commandIn(directory: string, ...args: string[]): string {
  const options = ['--inhibit-cache', '--library-path', directory, '--argv0', 'boxkeep'];
  return `${[join(directory, 'boxkeep-daemon'), ...options, join(directory, 'daemon'), ...args].join(' ')}\n`;
}

/** The directory name of one version. */
export const versionName = (payload: Uint8Array): string => `boxkeep-${digestOf(payload).toString('hex').slice(0, 16)}`;

/** A directory of a test, with a release and a directory for an unprivileged account. */
export class ReleaseStage implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'boxkeep-release-'));
  readonly temporary = join(this.directory, 'tmp');
  readonly uid = isRoot ? otherUid : (process.getuid?.() ?? 0);
  /** The directory that account unpacks to. */
  readonly place = join(this.temporary, `boxkeep-bin-${this.uid}`);
  readonly env = { TMPDIR: this.temporary };
  readonly #account = isRoot ? ['setpriv', `--reuid=${otherUid}`, `--regid=${otherUid}`, '--clear-groups'] : [];

  constructor() {
    chmodSync(this.directory, 0o755);
    mkdirSync(this.temporary);
    chmodSync(this.temporary, 0o1777);
  }

  /** Writes a release, and returns its path and the directory that it unpacks into. */
  make(files = carried(), payload = encodePayload(files), changes: Partial<Trailer> = {}, name = 'boxkeep') {
    const path = join(this.directory, name);
    writeFileSync(path, joinRelease(readFileSync(program), files, payload, changes));
    chmodSync(path, 0o755);
    const version = versionName(payload);
    return { path, version, directory: join(this.place, version), bytes: readFileSync(path) };
  }

  /** The command of the unprivileged account. */
  asAccount(...command: string[]): string[] {
    return [...this.#account, ...command];
  }

  run(path: string): Outcome {
    return run(this.asAccount(path, 'x'), this.env);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
