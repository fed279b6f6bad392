/** Describes the sandbox: its account, directories and limits. */
import type { Machine } from '../../platform/host/machine.ts';
import { nullOnNow } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';

export interface SandboxRecord extends Omit<SandboxDeps, 'accounts' | 'readMachine'> {
  readonly machine: Machine;
  /** The account of the daemon. */
  readonly own: Account;
  /** The account of commands that name no account. */
  readonly account: Account;
  readonly workspaceDir: string;
}

export interface SandboxLimits {
  readonly runningCommands: number;
  readonly commandSessions: number;
  readonly streams: number;
  readonly terminals: number;
  readonly watchers: number;
  readonly jsonBodyBytes: number;
  readonly logBytesPerStream: number;
  /** Limit for the logs of all commands together. */
  readonly logBytes: number;
}

export interface SandboxDeps {
  /** Outlives the daemon, and differs between sandboxes. */
  readonly id: string;
  readonly version: string;
  /** Commit of the sources of the build; null when unknown. */
  readonly commit: string | null;
  readonly pid: number;
  readonly accounts: Accounts;
  readonly defaultUser: string | null;
  readonly runtimeDir: string;
  readonly startedMs: number;
  readonly limits: SandboxLimits;
  readonly readMachine: () => Machine;
}

export class Sandbox {
  constructor(private readonly deps: SandboxDeps) {}

  get id(): string {
    return this.deps.id;
  }

  get startedMs(): number {
    return this.deps.startedMs;
  }

  /** Always returns a record, even if commands cannot run. */
  describe(): SandboxRecord {
    const { accounts, readMachine, ...known } = this.deps;
    const own = accounts.own();
    // The default account may not exist, or not be usable. Commands report this error.
    const account = nullOnNow(CoreError, () => accounts.default()) ?? own;
    return { ...known, machine: readMachine(), own, account, workspaceDir: account.home };
  }
}
