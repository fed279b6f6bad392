/**
 * A sandbox for destructive tests, confined like a container.
 *
 * It has its own process and mount namespaces, a container's limits, one small disk, and an account that exists
 * nowhere else.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { inControlGroup, type GroupLimits } from './control-group.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';
import { testAccount, withTestAccount } from './test-account.ts';

export interface Confinement extends GroupLimits {
  /** The size of the disk with the account's home and the runtime directory. */
  readonly diskMib?: number;
}

const defaults = { memoryBytes: 1024 * 1024 * 1024, processes: 256, diskMib: 64 } as const;

/** A second limit on the account's processes, so that a failing control group harms no other process. */
const maxProcesses = 512;

/** Options for a daemon that is root in its namespaces and runs commands as `testAccount`. */
export function confined(confinement: Confinement = {}, options: SandboxOptions = {}): SandboxOptions {
  const { diskMib, ...limits } = { ...defaults, ...confinement };
  const { name, uid, gid } = testAccount;
  const disk = `
    mkdir -p disk runtime && mount -t tmpfs -o size=${diskMib}m,mode=755 tmpfs disk &&
    mkdir disk/home disk/runtime && chmod 700 disk/runtime && chown ${uid}:${gid} disk/home &&
    mount --bind disk/runtime runtime && exec "$@"`;
  const account = withTestAccount(options);
  return inControlGroup(limits, {
    ...account,
    env: { SVC_DEFAULT_USER: name },
    launcher: [
      ...['unshare', '--pid', '--fork', '--mount', '--mount-proc', '--kill-child'],
      ...['prlimit', `--nproc=${maxProcesses}`, 'sh', '-c', disk, 'sh'],
      ...(account.launcher ?? []),
    ],
    prepare(sandbox) {
      chmodSync(sandbox.directory, 0o755);
      account.prepare?.(sandbox);
    },
  });
}

/** The directory in which the account can write. */
export function homeOf(sandbox: Sandbox): string {
  return join(sandbox.directory, 'disk/home');
}
