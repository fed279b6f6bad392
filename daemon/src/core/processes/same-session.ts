/** Refuses a request for an existing session whose values differ from those of the session. */
import { resolve } from 'node:path';
import { CoreError, type NextStep } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import type { EnvironmentChanges } from './environment.ts';

export interface SessionValues {
  readonly id: string;
  /** Absolute. */
  readonly cwd: string;
  readonly env: EnvironmentChanges;
  /** null is the default account. */
  readonly user: string | null;
  /** The account name at the time the session was created. */
  readonly account: string;
}

export interface RequestedValues {
  /** Absolute; null was not requested. */
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  /** null was not requested. */
  readonly user: string | null;
}

/** What the session has instead of the requested values, as phrases for a message. Values of variables are secret. */
export function differences(session: SessionValues, { cwd, env, user }: RequestedValues, accounts: Accounts): string[] {
  const variables = Object.keys(env).filter((name) => session.env[name] !== env[name]);
  return [
    cwd !== null && resolve(cwd) !== resolve(session.cwd) && `the cwd ${session.cwd}`,
    user !== null &&
      !isSameAccount(accounts.resolve(user), accounts.resolve(session.user)) &&
      `the user ${session.account}`,
    variables.length > 0 && `other values of ${variables.join(', ')}`,
  ].filter((difference) => difference !== false);
}

/** Throws `session_exists` if there are differences. */
export function assertNoDifferences(id: string, found: readonly string[], close: NextStep): void {
  if (found.length === 0) return;
  throw new CoreError('session_exists', `session ${id} exists already, with ${found.join(', ')}`, {
    hint: 'Leave these values out to use the session as it is, or pass another id, or close the session first.',
    next: close,
  });
}

/** Compares ids instead of names, because `uid:gid` lets a caller combine an account with any group. */
export function isSameAccount(a: Account, b: Account): boolean {
  return a.uid === b.uid && a.gid === b.gid;
}
