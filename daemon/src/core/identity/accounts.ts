/** Decides which account runs a command, a terminal or a kernel. */
import { CoreError } from '../../kit/errors.ts';
import type { Owner } from '../../kit/types/owner.ts';
import type { AccountDatabase, PasswdEntry } from '../../platform/host/accounts.ts';

/** The name is the uid as text when the system has no name for the account. */
export interface Account extends PasswdEntry {
  /** All groups, primary group first. */
  readonly groups: readonly number[];
}

export interface AccountsDeps {
  readonly database: AccountDatabase;
  /** The uid and gid of the daemon. */
  readonly own: Owner;
  /** `SVC_DEFAULT_USER`; null is the daemon's own account. */
  readonly defaultUser: string | null;
  readonly platform: NodeJS.Platform;
}

const largestId = 2 ** 32 - 2; // setresuid(2) treats 2^32 - 1 as "do not change".

export class Accounts {
  constructor(private readonly deps: AccountsDeps) {}

  /** Resolves a name, a uid or `uid:gid` to an account; null is the default account. */
  resolve(user: string | null): Account {
    if (user === null) return this.default();
    if (this.deps.platform === 'win32') {
      throw new CoreError('bad_argument', 'user cannot be chosen on Windows', { hint: 'Leave user out.' });
    }
    const account = this.#find(user);
    if (!account) {
      throw new CoreError('bad_argument', `no account is named ${JSON.stringify(user)}`, {
        hint: 'Pass a name from /etc/passwd, a uid, or uid:gid, or leave user out for the default account.',
      });
    }
    this.#assertReachable(account, 'Leave user out, or start the daemon as root.');
    return account;
  }

  /** `SVC_DEFAULT_USER`, or else the account of the daemon. */
  default(): Account {
    const { defaultUser, platform } = this.deps;
    if (defaultUser === null) return this.own();
    if (platform === 'win32') {
      throw new CoreError('unavailable', 'SVC_DEFAULT_USER cannot be applied on Windows', {
        isRetryable: false,
        hint: 'Start the daemon without SVC_DEFAULT_USER.',
      });
    }
    const account = this.#find(defaultUser);
    if (!account) {
      throw new CoreError('unavailable', `the default account ${JSON.stringify(defaultUser)} does not exist`, {
        isRetryable: false,
        hint: 'Create the account in the image, or start the daemon with another SVC_DEFAULT_USER.',
      });
    }
    this.#assertReachable(account, 'Start the daemon as root, or with another SVC_DEFAULT_USER.');
    return account;
  }

  own(): Account {
    const { uid, gid } = this.deps.own;
    return this.#withUid(uid, gid);
  }

  /** The name of a file owner; null when the system has no name for the uid. */
  ownerName(uid: number): string | null {
    return this.deps.database.byUid(uid)?.name ?? null;
  }

  /** The name of a file group; null when the system has no name for the gid. */
  groupName(gid: number): string | null {
    return this.deps.database.groupName(gid);
  }

  /** The account that a process has to switch to; null for the account of a daemon that is not root. */
  unlessOwn(account: Account): Account | null {
    return this.#isOwn(account) ? null : account;
  }

  #isOwn(account: Account): boolean {
    const { own } = this.deps;
    return own.uid !== 0 && account.uid === own.uid && account.gid === own.gid;
  }

  #find(user: string): Account | null {
    const ids = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(user);
    if (!ids) {
      const entry = this.deps.database.byName(user);
      return entry && { ...entry, groups: this.deps.database.groupsOf(entry.name, entry.gid) };
    }
    const uid = Number(ids[1]);
    const gid = ids[2] === undefined ? null : Number(ids[2]);
    if (uid > largestId || (gid ?? 0) > largestId) return null;
    return this.#withUid(uid, gid);
  }

  /** A uid without a passwd entry is valid too, because containers may run under ids without an entry. */
  #withUid(uid: number, gid: number | null): Account {
    const entry = this.deps.database.byUid(uid);
    const group = gid ?? entry?.gid ?? uid;
    return {
      name: entry?.name ?? String(uid),
      uid,
      gid: group,
      groups: this.deps.database.groupsOf(entry?.name ?? null, group),
      home: entry?.home ?? '/',
      shell: entry?.shell ?? '/bin/sh',
    };
  }

  #assertReachable(account: Account, hint: string): void {
    const { own } = this.deps;
    if (own.uid === 0 || this.#isOwn(account)) return;
    const wanted = account.uid === own.uid ? `a member of group ${account.gid} alone` : account.name;
    throw new CoreError('bad_argument', `the daemon runs as uid ${own.uid} and cannot become ${wanted}`, { hint });
  }
}
