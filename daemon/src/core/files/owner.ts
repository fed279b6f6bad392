/** Determines the owner of new files: the account in the request, otherwise the default account. */
import type { Owner } from '../../kit/types/owner.ts';
import type { Accounts } from '../identity/accounts.ts';

/** null for the daemon's own account, because the owner then needs no change. Throws `bad_argument`. */
export function ownerFor(accounts: Accounts, user: string | null): Owner | null {
  const { uid, gid } = accounts.resolve(user);
  const own = accounts.own();
  return uid === own.uid && gid === own.gid ? null : { uid, gid };
}
