/** Describes the sandbox: its account, directories and limits. */
import type { Machine } from '../../platform/host/machine.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';

export interface SandboxRecord {
  readonly version: string;
  /** Commit of the sources of the build; null when unknown. */
  readonly commit: string | null;
  readonly pid: number;
  readonly machine: Machine;
  /** The account of the daemon. */
  readonly own: Account;
  readonly defaultUser: string | null;
  /** The account of commands that name no account. */
  readonly account: Account;
  readonly workspaceDir: string;
  readonly runtimeDir: string;
  readonly startedMs: number;
  readonly limits: SandboxLimits;
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
  readonly version: string;
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

  /** Always returns a record, even if commands cannot run. */
  describe(): SandboxRecord {
    const { version, commit, pid, defaultUser, runtimeDir, startedMs, limits } = this.deps;
    const own = this.deps.accounts.own();
    const account = this.#defaultAccount() ?? own;
    return {
      version,
      commit,
      pid,
      machine: this.deps.readMachine(),
      own,
      defaultUser,
      account,
      workspaceDir: account.home,
      runtimeDir,
      startedMs,
      limits,
    };
  }

  #defaultAccount(): Account | null {
    try {
      return this.deps.accounts.default();
    } catch (error) {
      // The account does not exist or cannot be used. Commands report this error.
      if (error instanceof CoreError) return null;
      throw error;
    }
  }
}
