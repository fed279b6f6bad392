/** Where a path of a request leads: absolute, `~` being a home, relative in the workspace (contract, Files). */
import { isPath, readPath } from '../../kit/path-text.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from './accounts.ts';

/** A path as a caller may give it; `~` is the home of the account. */
export function absolute(path: string, account: Account, base: string): string {
  if (path === '~' || path.startsWith('~/')) return account.home + path.slice(1);
  return path.startsWith('/') ? path : `${base}/${path}`;
}

export class Places {
  constructor(private readonly accounts: Accounts) {}

  /** The home of the default account. */
  get workspace(): string {
    return this.accounts.default().home;
  }

  /** `user` is the account whose home `~` is; null is the default account. Throws `bad_argument`. */
  resolve(text: string, user: string | null): string {
    const path = readPath(text);
    if (path === '' || !isPath(path)) {
      throw new CoreError('bad_argument', `no file can be called ${JSON.stringify(text)}`, {
        hint: 'Give an absolute path, one that begins with ~, or one below the workspace.',
      });
    }
    // Only a path that is relative to it needs the workspace, and with it the default account.
    if (path.startsWith('/')) return tidy(path);
    return tidy(absolute(path, this.accounts.resolve(user), /^~(\/|$)/.test(path) ? '/' : this.workspace));
  }
}

/** Without empty and `.` segments. `..` stays: behind a symbolic link only the system knows where it leads. */
function tidy(path: string): string {
  return `/${path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')}`;
}
