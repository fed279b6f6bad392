/** A small file system of its own in the directory of a sandbox: to be filled, or moved to. */
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

/** Options for a daemon that has a file system of so many mebibytes at `disk`. */
export function inRoom(mebibytes: number, options: SandboxOptions = {}): SandboxOptions {
  const mount = `mkdir -p disk && mount -t tmpfs -o size=${mebibytes}m,mode=777 tmpfs disk && exec "$@"`;
  return { ...options, launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh', ...(options.launcher ?? [])] };
}

/** A path on it as we see it: the daemon has a mount namespace of its own. */
export function otherDisk(sandbox: Sandbox, path = ''): string {
  return join(`/proc/${sandbox.daemonPid}/root${sandbox.directory}/disk`, path);
}
