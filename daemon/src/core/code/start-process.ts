/** Starts a process of the code plane under a keeper, as an account. */
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { systemRefusal } from '../identity/refusal.ts';
import { startIn } from '../identity/start-in.ts';
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
export async function startProcess(deps: ProcessDeps, request: ProcessRequest): Promise<Child> {
  // An account may have no home, or may not enter that of the default one: then the root will do as its workspace.
  const directories = request.cwd === deps.accounts.default().home ? [request.cwd, '/'] : [request.cwd];
  const { child } = await startIn(
    directories,
    { what: request.argv[0] ?? '', user: request.account.name },
    async (cwd) => {
      const child = await start(deps, { ...request, cwd });
      return { child, end: child.end };
    },
  );
  return child;
}

async function start({ accounts, spawn }: ProcessDeps, request: ProcessRequest): Promise<Child> {
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
  return await started.catch((error: unknown) => {
    throw systemRefusal(error, 'an interpreter');
  });
}
