/** The account of a call, and what its paths mean for that account. */
import type { Account } from '../../core/identity/accounts.ts';
import { CoreError } from '../../kit/errors.ts';
import type { E2bDeps } from './app.ts';

type CallerDeps = Pick<E2bDeps, 'accounts' | 'defaults'>;

/** The account that the clients name where their caller names none. Images of others may lack it. */
const usualUser = 'user';

export interface Caller {
  readonly account: Account;
  /** As core takes it: null for the default account. */
  readonly user: string | null;
}

/** The user of Basic authentication, which is a name and no credential; throws `unauthorized` for an unknown one. */
export function callerOf(deps: CallerDeps, headers: Headers): Caller {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(headers.get('authorization') ?? '') ?? [];
  const [name = ''] = encoded === undefined ? [] : Buffer.from(encoded, 'base64').toString().split(':', 1);
  return callerNamed(deps, name);
}

/** An empty name is the default account. Throws `unauthorized` for an unknown name. */
export function callerNamed(deps: CallerDeps, name: string): Caller {
  try {
    return accountNamed(deps, name);
  } catch (error) {
    if (!(error instanceof CoreError) || error.code !== 'bad_argument') throw error;
    throw new CoreError('unauthorized', error.message);
  }
}

/** Throws `bad_argument` for an unknown name. */
export function accountNamed({ accounts, defaults }: CallerDeps, name: string): Caller {
  const user = name === '' ? defaults.values.user : name;
  try {
    return { account: accounts.resolve(user), user };
  } catch (error) {
    if (user !== usualUser || !(error instanceof CoreError) || error.code !== 'bad_argument') throw error;
    return { account: accounts.default(), user: null };
  }
}

/** An absolute path; a relative one begins in the home of the account. Throws `bad_argument` for the home of another. */
export function pathOf({ defaults }: CallerDeps, path: string, { account }: Caller): string {
  if (path === '') return defaults.values.directory ?? account.home;
  if (path === '~' || path.startsWith('~/')) return `${account.home}${path.slice(1)}`;
  if (path.startsWith('~')) throw new CoreError('bad_argument', `${path} is the home of another account`);
  return path.startsWith('/') ? path : `${account.home}/${path}`;
}
