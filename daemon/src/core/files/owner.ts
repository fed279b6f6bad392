/** Who owns what the daemon creates: the account that a request names, else the default account. */
import type { Accounts } from '../identity/accounts.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** null where it is the daemon's own account, and nothing has to be changed. Throws `bad_argument`. */
export function ownerFor(accounts: Accounts, user: string | null): Owner | null {
  const { uid, gid } = accounts.resolve(user);
  const own = accounts.own();
  return uid === own.uid && gid === own.gid ? null : { uid, gid };
}
