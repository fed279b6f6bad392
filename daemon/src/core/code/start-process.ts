/** Starts a process of the code plane under a keeper, as an account. */
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { startRefusal, systemRefusal } from '../identity/refusal.ts';
import { encodeNote, type InterpreterNote } from './note.ts';

export interface ProcessRequest {
  readonly note: InterpreterNote;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly account: Account;
  readonly stdin: 'pipe' | 'null';
  /** Of what it says on each stream. */
  readonly capBytes: number;
}

export interface ProcessDeps {
  readonly accounts: Accounts;
  readonly spawn: Spawn;
}

const graceMs = 1000;

/** Throws `bad_argument` for a directory or an account that it cannot have, `unavailable`, `capacity_reached`. */
export async function startProcess({ accounts, spawn }: ProcessDeps, request: ProcessRequest): Promise<Child> {
  const { account, argv, cwd, note, ...rest } = request;
  const started = spawn.start({
    ...rest,
    note: encodeNote(note),
    input: null,
    argv,
    cwd,
    account: accounts.isOwn(account) ? null : account,
    merge: false,
    isAwaited: false,
    hardTimeoutMs: null,
    graceMs,
    limits: [],
  });
  const child = await started.catch((error: unknown) => {
    throw systemRefusal(error, 'an interpreter');
  });
  if (child.end?.kind !== 'failed') return child;
  const { end } = child;
  child.forget();
  throw startRefusal(end, { what: argv[0] ?? '', cwd, user: account.name });
}
