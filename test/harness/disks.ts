/** A small file system inside the directory of a sandbox, which a test can fill or move files to. */
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

/** Options for a daemon with a file system of this many mebibytes at `disk`. */
export function inRoom(mebibytes: number, options: SandboxOptions = {}): SandboxOptions {
  const mount = `mkdir -p disk && mount -t tmpfs -o size=${mebibytes}m,mode=777 tmpfs disk && exec "$@"`;
  return { ...options, launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh', ...(options.launcher ?? [])] };
}

/** A path on this disk as the test sees it, because the daemon has a separate mount namespace. */
export function otherDisk(sandbox: Sandbox, path = ''): string {
  return join(`/proc/${sandbox.daemonPid}/root${sandbox.directory}/disk`, path);
}
