/** Provides one account for each login shell, each with a separate home. */
import { appendFileSync, chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianFiles } from './debian-files.ts';
import { needPrograms } from './programs.ts';
import { rootKind } from './root.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

const uids = { bash: 61_401, dash: 61_402, zsh: 61_403, fish: 61_404, ash: 61_405 } as const;
export type ShellName = keyof typeof uids;
export const shellNames = Object.keys(uids) as ShellName[];

const mountAccounts = 'mount --bind ./passwd /etc/passwd && exec "$@"';

/** Options for a daemon with an account for each shell, named after it. */
export function withShellAccounts(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', mountAccounts, 'sh'],
    prepare: (sandbox) => {
      installShells();
      writeAccounts(sandbox);
      options.prepare?.(sandbox);
    },
  };
}

/** Programs that tests run in these shells. */
const programs = ['vim', 'less'];

/** Installs missing shells and programs. The ash shell comes with the harness. */
function installShells(): void {
  const wanted = [...shellNames.filter((name) => name !== 'ash'), ...programs];
  if (rootKind === 'machine' || rootKind === 'pid1') needPrograms(...wanted);
}

function writeAccounts({ directory, home: { accounts } }: Sandbox): void {
  chmodSync(directory, 0o755);
  copyFileSync(accounts, join(directory, 'passwd'));
  for (const name of shellNames) {
    const home = join(directory, name);
    mkdirSync(home);
    chownSync(home, uids[name], uids[name]);
    // A zsh without start-up files begins with a dialog.
    if (name === 'zsh') writeFileSync(join(home, '.zshrc'), '');
    const line = `\nsbx-${name}:x:${uids[name]}:${uids[name]}::${home}:${shellPath(name, directory)}`;
    appendFileSync(join(directory, 'passwd'), line);
  }
  appendFileSync(join(directory, 'passwd'), '\n');
}

/** The path of the shell for the daemon under test. */
function shellPath(name: ShellName, directory: string): string {
  if (rootKind === 'musl' || rootKind === 'busybox') return `/bin/${name}`;
  if (name !== 'ash') return Bun.which(name) ?? '';
  const path = join(directory, 'ash-shell');
  mkdirSync(path);
  copyFileSync(join(debianFiles(), 'bin/busybox'), join(path, 'ash'));
  chmodSync(join(path, 'ash'), 0o755);
  return join(path, 'ash');
}
