/** Starts a process of the code plane under a keeper, as an account. */
import type { Child, KeeperSpawn, SpawnRequest } from '../../../platform/process/spawn.ts';
import type { Account, Accounts } from '../../identity/accounts.ts';
import { systemRefusal } from '../../processes/refusal.ts';
import { launch, launchIn } from '../../processes/launch.ts';
import type { InterpreterNote } from './note.ts';

export interface ProcessRequest extends Pick<SpawnRequest, 'argv' | 'env' | 'cwd' | 'capBytes'> {
  readonly note: InterpreterNote;
  readonly account: Account;
  readonly stdin: 'pipe' | 'null';
}

export interface ProcessDeps {
  readonly accounts: Accounts;
  readonly spawn: KeeperSpawn;
}

const graceMs = 1000;

/** Throws `bad_argument` for an unusable directory or account, `unavailable`, `capacity_reached`. */
export async function startProcess({ accounts, spawn }: ProcessDeps, request: ProcessRequest): Promise<Child> {
  const { account, note, cwd: wanted, ...rest } = request;
  // The account may not be able to enter the home of the default account. The process then starts in `/`.
  const directories = wanted === accounts.default().home ? [wanted, '/'] : [wanted];
  const owned = { plane: 'code', note: { code: note } } as const;
  const whole = { ...rest, ...owned, account: accounts.unlessOwn(account), graceMs };
  const refuse = (error: unknown) => systemRefusal(error, 'an interpreter');
  const start = async (cwd: string) => {
    const child = await launch(spawn, { ...whole, cwd }, refuse);
    return { child, end: child.end };
  };
  return (await launchIn(directories, { what: rest.argv[0] ?? '', user: account.name }, start)).child;
}
