/**
 * A sandbox that may be wrecked: process and mount namespaces of its own, limits as a container has them, one small
 * disk, and an account that exists nowhere else.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { inControlGroup, type GroupLimits } from './control-group.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';
import { testAccount, withTestAccount } from './test-account.ts';

export interface Confinement extends GroupLimits {
  /** Of the disk that holds the home of the account and the runtime directory. */
  readonly diskMib?: number;
}

const defaults = { memoryBytes: 1024 * 1024 * 1024, processes: 256, diskMib: 64 } as const;

/** The account's processes are counted a second time, so that a group that does not hold harms nobody either. */
const mostProcesses = 512;

/** Options for a daemon that is root inside, and runs what it is asked to as `testAccount`. */
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
      ...['prlimit', `--nproc=${mostProcesses}`, 'sh', '-c', disk, 'sh'],
      ...(account.launcher ?? []),
    ],
    prepare(sandbox) {
      chmodSync(sandbox.directory, 0o755);
      account.prepare?.(sandbox);
    },
  });
}

/** Where the account can write. */
export function homeOf(sandbox: Sandbox): string {
  return join(sandbox.directory, 'disk/home');
}
