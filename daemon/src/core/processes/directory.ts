/** Resolves absolute paths, paths from a home directory (`~`), and paths relative to the workspace. */
import { isPath, readPath } from '../../kit/text/path-text.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';

/** Makes a caller's path absolute. `~` is the home directory of the account. Only a relative path needs the base. */
export function absolute(path: string, account: Account, base: () => string): string {
  if (path === '~' || path.startsWith('~/')) return account.home + path.slice(1);
  return path.startsWith('/') ? path : `${base()}/${path}`;
}

/** The directory that a caller gives as `user`; null means the workspace. A relative path starts in the workspace. */
export function directoryOf(accounts: Accounts, path: string | null, user: string | null): string {
  const workspace = () => accounts.default().home;
  return path === null ? workspace() : absolute(path, accounts.resolve(user), workspace);
}

/** Candidate start directories, best first. An account may not be able to enter the workspace. */
export function withFallbacks(directory: string, account: Account): string[] {
  return [...new Set([directory, account.home, '/'])];
}

export class PathResolver {
  constructor(private readonly accounts: Accounts) {}

  /** The home directory of the default account. */
  get workspace(): string {
    return this.accounts.default().home;
  }

  /** `user` is the account whose home directory `~` stands for; null is the default account. Throws `bad_argument`. */
  resolve(text: string, user: string | null): string {
    const path = readPath(text);
    if (path === '' || !isPath(path)) {
      throw new CoreError('bad_argument', `no file can be called ${JSON.stringify(text)}`, {
        hint: 'Pass an absolute path, a path that begins with ~, or a path below the workspace.',
      });
    }
    // Only a relative path needs the workspace, and with it the default account.
    if (path.startsWith('/')) return tidy(path);
    return tidy(absolute(path, this.accounts.resolve(user), () => this.workspace));
  }
}

/** Removes empty and `.` segments. `..` stays, because after a symbolic link only the kernel can resolve it. */
function tidy(path: string): string {
  return `/${path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')}`;
}
