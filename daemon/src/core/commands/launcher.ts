/** Turns what a caller asks for into a running command, or into an error that says why not. */
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { absolute } from '../identity/places.ts';
import { Command } from './command.ts';
import { commandEnvironment, type EnvironmentChanges } from '../identity/environment.ts';
import type { LogBudget } from './log-budget.ts';
import { encodeNote, type CommandNote } from './note.ts';
import { commandRefusal, directoryRefusal } from './refusal.ts';
import { resourceLimits, type CommandLimits } from './resource-limits.ts';
import type { Session } from './sessions.ts';
import { shellArguments, type FindProgram, type ShellName } from './shell.ts';

export type StdinSource = { readonly kind: 'pipe' | 'null' } | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export interface CommandSpec {
  /** The caller's own id; null mints one. */
  readonly id: string | null;
  /** Of the request: the same id with the same fingerprint answers the same command. */
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  /** What of it stays for the later commands of its session. */
  readonly sessionKeeps?: 'env' | 'cwd';
  readonly command: string;
  readonly shell: ShellName;
  readonly args: readonly string[];
  /** null is the session's, else the workspace; a relative path is resolved against that. */
  readonly cwd: string | null;
  /** null is the session's, else the default account. */
  readonly user: string | null;
  readonly env: EnvironmentChanges;
  readonly hardTimeoutMs: number | null;
  readonly merge: boolean;
  /** The caller waits for the end. */
  readonly isAwaited: boolean;
  readonly limits: CommandLimits;
  readonly stdin: StdinSource;
}

export interface LauncherDeps {
  readonly spawn: Spawn;
  readonly accounts: Accounts;
  readonly findProgram: FindProgram;
  /** What every command's environment starts from. */
  readonly environment: Readonly<Record<string, string>>;
  readonly budget: LogBudget;
  /** Bytes of output that all commands keep. */
  readonly keptBytes: () => number;
  readonly now: () => number;
}

/** Between SIGTERM and SIGKILL when a tree is ended. */
export const graceMs = 5000;

export class Launcher {
  constructor(private readonly deps: LauncherDeps) {}

  /** Throws a CoreError for whatever is not the command's own failure; the id is free again then. */
  async launch(id: string, spec: CommandSpec, session: Session | null): Promise<Command> {
    const user = spec.user ?? session?.user ?? null;
    const account = this.deps.accounts.resolve(user);
    const workspace = () => (user === null ? account.home : this.#workspace);
    const request = { ...spec, startupFile: session?.startupFile ?? null };
    const argv = shellArguments(request, this.deps.environment['PATH'] ?? '', this.deps.findProgram);
    const env = commandEnvironment(this.deps.environment, account, [session?.env ?? {}, spec.env]);
    const directories = this.#directories(spec.cwd, account, session?.cwd ?? null, workspace);
    for (const cwd of directories) {
      const note = this.#note(id, spec, account, cwd);
      const child = await this.#spawn(note, spec, { account, argv, env });
      if (child.end?.kind !== 'failed') return new Command(note, child);
      // The workspace is closed to this account: its home, then the root, will do.
      const isClosed = child.end.stage === 'cwd' && cwd !== directories.at(-1);
      const refusal = isClosed ? null : commandRefusal(child.end, note);
      if (refusal === null && !isClosed) return new Command(note, child);
      child.forget();
      if (refusal) throw refusal;
    }
    throw new Error('the last directory is refused or entered');
  }

  /** A path of a session: absolute, `~` being the home of its account, null the workspace. */
  sessionPath(path: string | null, user: string | null): string {
    return path === null ? this.#workspace : absolute(path, this.deps.accounts.resolve(user), this.#workspace);
  }

  /** Throws `bad_argument` for an account that is not there. */
  accountName(user: string | null): string {
    return this.deps.accounts.resolve(user).name;
  }

  /** The home of the default account (contract, Files). */
  get #workspace(): string {
    return this.deps.accounts.default().home;
  }

  /** Where the command may start, best first; only the workspace, be it that of a session, has alternatives. */
  #directories(wanted: string | null, account: Account, current: string | null, workspace: () => string): string[] {
    // Only a path that is relative to it needs the workspace, and with it the default account.
    if (wanted !== null && /^[/~]/.test(wanted)) return [absolute(wanted, account, '/')];
    const base = current ?? workspace();
    if (wanted !== null) return [absolute(wanted, account, base)];
    return current !== null && current !== workspace() ? [base] : [...new Set([base, account.home, '/'])];
  }

  #note(id: string, spec: CommandSpec, account: Account, cwd: string): CommandNote {
    return {
      id,
      fingerprint: spec.fingerprint,
      sessionId: spec.sessionId,
      command: spec.command,
      user: account.name,
      cwd,
      merge: spec.merge,
      createdMs: this.deps.now(),
    };
  }

  async #spawn(
    note: CommandNote,
    spec: CommandSpec,
    { account, argv, env }: { account: Account; argv: readonly string[]; env: Readonly<Record<string, string>> },
  ): Promise<Child> {
    const { accounts, budget, keptBytes, spawn } = this.deps;
    try {
      return await spawn.start({
        note: encodeNote(note),
        input: spec.stdin.kind === 'bytes' ? spec.stdin.bytes : null,
        argv,
        env,
        cwd: note.cwd,
        account: accounts.isOwn(account) ? null : account,
        stdin: spec.stdin.kind === 'null' ? 'null' : 'pipe',
        merge: spec.merge,
        isAwaited: spec.isAwaited,
        capBytes: budget.capAtStart(keptBytes()),
        hardTimeoutMs: spec.hardTimeoutMs,
        graceMs,
        limits: resourceLimits(spec.limits),
      });
    } catch (error) {
      throw directoryRefusal(error);
    }
  }
}
