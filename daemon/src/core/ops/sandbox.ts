/** What a sandbox is: whose it is, where it works, what it is bounded by. */
import type { Machine } from '../../platform/machine.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';

export interface SandboxRecord {
  readonly version: string;
  /** Of the sources it was built from; null where nobody knows. */
  readonly commit: string | null;
  readonly pid: number;
  readonly machine: Machine;
  /** The daemon's own account. */
  readonly own: Account;
  readonly defaultUser: string | null;
  /** Whom commands run as when they name nobody. */
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
  /** Of all commands together. */
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

  /** Always answers, also where commands cannot run. */
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
      if (error instanceof CoreError) return null; // It does not exist, or cannot be had: the commands say so.
      throw error;
    }
  }
}
