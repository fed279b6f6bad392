/** A runtime directory of one megabyte, and a function that fills it. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

const mount = 'mkdir -p ./runtime && mount -t tmpfs -o size=1m,mode=700 tmpfs ./runtime && exec "$@"';

/** Options for a daemon whose runtime directory is a separate, small file system. */
export function onSmallDisk(options: SandboxOptions = {}): SandboxOptions {
  return { ...options, launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh'] };
}

/** A path in the runtime directory as the daemon sees it, because the daemon has a separate mount namespace. */
export function insideRuntime(sandbox: Sandbox, path = ''): string {
  return join(`/proc/${sandbox.daemonPid}/root${sandbox.runtimeDirectory}`, path);
}

export function fillDisk(sandbox: Sandbox): void {
  fillFileSystem(insideRuntime(sandbox, 'filler'));
}

/** Takes all the space of the file system with a file at the path. */
export function fillFileSystem(path: string): void {
  const file = openSync(path, 'w');
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
