/** A runtime directory of one megabyte, and what leaves no room in it. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

const mount = 'mkdir -p ./runtime && mount -t tmpfs -o size=1m,mode=700 tmpfs ./runtime && exec "$@"';

/** Options for a daemon whose runtime directory is a small file system of its own. */
export function onSmallDisk(options: SandboxOptions = {}): SandboxOptions {
  return { ...options, launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh'] };
}

/** The runtime directory as the daemon sees it: in a mount namespace that is not ours. */
export function insideRuntime(sandbox: Sandbox, path = ''): string {
  return join(`/proc/${sandbox.daemonPid}/root${sandbox.runtimeDirectory}`, path);
}

/** Takes all the room there is. */
export function fillDisk(sandbox: Sandbox): void {
  const file = openSync(insideRuntime(sandbox, 'filler'), 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

export function freeDisk(sandbox: Sandbox): void {
  rmSync(insideRuntime(sandbox, 'filler'));
}
