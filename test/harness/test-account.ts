/** An account that exists for one daemon only, through account and group files in its mount namespace. */
import { appendFileSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, type Sandbox, type SandboxOptions } from './sandbox.ts';

/** Process limits count by account, so test files that run at the same time use different accounts. */
const uid = 61_234 + 10 * (Number(process.env['JEST_WORKER_ID'] ?? 1) - 1);

export const testAccount = { name: 'sbx-tester', uid, gid: uid, groups: [uid, uid + 1, uid + 2] } as const;

const mountAccounts = 'mount --bind ./passwd /etc/passwd && mount --bind ./group /etc/group && exec "$@"';

/** Options for a daemon that knows `testAccount`. */
export function withTestAccount(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', mountAccounts, 'sh', ...(options.launcher ?? [])],
    prepare: (sandbox) => {
      assertRoot();
      writeAccounts(sandbox);
      options.prepare?.(sandbox);
    },
  };
}

/** Options for a daemon that runs everything as `testAccount`, whose shells have no start-up files to read. */
export function withPlainAccount(options: SandboxOptions = {}): SandboxOptions {
  return withTestAccount({
    ...options,
    args: ['--default-user', testAccount.name, ...(options.args ?? [])],
    prepare(sandbox) {
      chownSync(sandbox.directory, testAccount.uid, testAccount.gid);
      options.prepare?.(sandbox);
    },
  });
}

/** Mounts the daemon's folders where the account can reach them, because the clone may be unreachable. */
const mountRepository = `for part in console daemon node_modules native dist; do
  mkdir -p "repository/$part" && mount --bind "$BOXKEEP_TEST_ROOT/$part" "repository/$part" || exit
done; exec "$@"`;

/** Options for a daemon that is not root. */
export function asTestAccount(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', mountRepository, 'sh'],
    account: testAccount,
    env: { BOXKEEP_TEST_ROOT: repositoryRoot },
    root: (sandbox) => join(sandbox.directory, 'repository'),
    prepare: (sandbox) => {
      assertRoot();
      mkdirSync(join(repositoryRoot, 'dist'), { recursive: true });
      for (const directory of [sandbox.directory, join(sandbox.directory, 'tmp')]) {
        chownSync(directory, testAccount.uid, testAccount.gid);
      }
      options.prepare?.(sandbox);
    },
  };
}

function writeAccounts({ directory, home }: Sandbox): void {
  const { name, uid, gid, groups } = testAccount;
  copyFileSync(home.accounts, join(directory, 'passwd'));
  copyFileSync('/etc/group', join(directory, 'group'));
  appendFileSync(join(directory, 'passwd'), `${name}:x:${uid}:${gid}::${directory}:/bin/sh\n`);
  for (const id of groups)
    appendFileSync(join(directory, 'group'), `${name}-${id}:x:${id}:${id === gid ? '' : name}\n`);
}

function assertRoot(): void {
  if (process.getuid?.() !== 0) throw new Error('tests of accounts need root: run npm test as root, or in a container');
}
