/** Starts the command that a caller requests, or throws an error that says why it cannot start. */
import { constants } from 'node:os';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import { recordedText, recordedTexts } from '../../kit/text/text.ts';
import type { Child, KeeperSpawn } from '../../platform/process/spawn.ts';
import type { ScriptDirectory } from '../../platform/stores/script-directory.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { absolute, directoryOf, withFallbacks } from '../processes/directory.ts';
import { Command } from './command.ts';
import { commandEnvironment, terminalVariables, type EnvironmentChanges } from '../processes/environment.ts';
import { launch, launchIn } from '../processes/launch.ts';
import { differences, type RequestedValues, type SessionValues } from '../processes/same-session.ts';
import type { LogBudget } from './log-budget.ts';
import type { CommandNote } from './note.ts';
import { directoryRefusal } from './refusal.ts';
import { isTooLongForArgument, readingScript, removeAtEnd } from './script-file.ts';
import { resourceLimits, type CommandLimits } from './resource-limits.ts';
import type { Session } from './sessions.ts';
import { shellArguments, type FindProgram, type ShellName } from './shell.ts';

export type StdinSource =
  | { readonly kind: 'pipe' | 'null' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** All three streams are one terminal. */
  | { readonly kind: 'terminal'; readonly size: TerminalSize };

export interface CommandSpec {
  /** An id chosen by the caller; null generates one. */
  readonly id: string | null;
  /** Fingerprint of the request. The same id with the same fingerprint returns the same command. */
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  /** What the later commands of the session inherit from this command. */
  readonly sessionKeeps?: 'env' | 'cwd';
  readonly command: string;
  readonly shell: ShellName;
  readonly args: readonly string[];
  /** null means the session's directory, or else the workspace. A relative path is resolved against that directory. */
  readonly cwd: string | null;
  /** null means the session's account, or else the default account. */
  readonly user: string | null;
  readonly env: EnvironmentChanges;
  readonly hardTimeoutMs: number | null;
  readonly merge: boolean;
  /** True if the caller waits for the end. */
  readonly isAwaited: boolean;
  /** The command does not lead its process group. Programs such as `setsid` fork when they lead theirs. */
  readonly isMember?: boolean;
  readonly limits: CommandLimits;
  readonly stdin: StdinSource;
  /** A text by which a client finds its command; null for none. */
  readonly label?: string | null;
}

export interface LauncherDeps {
  readonly spawn: KeeperSpawn;
  readonly accounts: Accounts;
  readonly findProgram: FindProgram;
  readonly isDirectory: (path: string) => boolean;
  /** Base environment of every command. */
  readonly environment: Readonly<Record<string, string>>;
  readonly scripts: ScriptDirectory;
  readonly budget: LogBudget;
  /** Bytes of output that all commands keep together. */
  readonly keptBytes: () => number;
  readonly now: () => number;
}

interface Run {
  readonly account: Account;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Time between SIGTERM and SIGKILL when a process tree is ended. */
export const graceMs = 5000;

export class Launcher {
  constructor(private readonly deps: LauncherDeps) {}

  /** Throws a CoreError if the failure is not the command's own. The id can then be used again. */
  async launch(id: string, spec: CommandSpec, session: Session | null): Promise<Command> {
    const { account, directories } = this.#placeOf(spec, session);
    const { shell, command, args } = spec;
    const request = { shell, command, args, startupFile: session?.startupFile ?? null };
    const argv = shellArguments(request, this.deps.environment['PATH'] ?? '', this.deps.findProgram);
    const changes = [...(spec.stdin.kind === 'terminal' ? [terminalVariables] : []), session?.env ?? {}, spec.env];
    const env = commandEnvironment(this.deps.environment, account, changes);
    const { note, child } = await launchIn(directories, { what: 'the command', user: account.name }, async (cwd) => {
      const note = this.#note(id, spec, account, cwd);
      const child = await this.#start(note, spec, { account, argv, env });
      // A program that cannot be executed is the result of the command, not a reason to refuse the request.
      const isResult = child.end?.kind === 'failed' && child.end.stage === 'exec';
      return { note, child, end: isResult ? null : child.end };
    });
    return new Command(note, child);
  }

  /** Records a command as killed by this signal and starts nothing. Throws a CoreError, as `launch` does. */
  async recordKilled(id: string, spec: CommandSpec, session: Session | null, signal: NodeJS.Signals): Promise<Command> {
    const { account, directories } = this.#placeOf(spec, session);
    const note = this.#note(id, spec, account, directories[0] ?? '/');
    try {
      return new Command(note, await this.deps.spawn.recordKilled('commands', note, constants.signals[signal]));
    } catch (error) {
      throw directoryRefusal(error);
    }
  }

  /**
   * Resolves a session path to an absolute path, with `~` as the home of its account. null means the workspace; so does
   * an optional directory that is missing.
   */
  sessionPath(path: string | null, user: string | null, isOptional = false): string {
    const given = directoryOf(this.deps.accounts, path, user);
    return isOptional && !this.deps.isDirectory(given) ? this.#workspace : given;
  }

  /** Throws `bad_argument` for an unknown account. */
  accountName(user: string | null): string {
    return this.deps.accounts.resolve(user).name;
  }

  /** What the session has instead of the requested values. */
  differences(session: SessionValues, requested: RequestedValues): string[] {
    return differences(session, requested, this.deps.accounts);
  }

  get #workspace(): string {
    return this.deps.accounts.default().home;
  }

  /** The account of a command, and the directories in which it may start. Throws `bad_argument`. */
  #placeOf(spec: CommandSpec, session: Session | null): { account: Account; directories: readonly string[] } {
    const user = spec.user ?? session?.user ?? null;
    const account = this.deps.accounts.resolve(user);
    const workspace = () => (user === null ? account.home : this.#workspace);
    return { account, directories: this.#directories(spec.cwd, account, session?.cwd ?? null, workspace) };
  }

  /**
   * Candidate start directories, best first. Only the workspace has fallbacks, including the workspace of a session.
   */
  #directories(wanted: string | null, account: Account, current: string | null, workspace: () => string): string[] {
    if (wanted !== null) return [absolute(wanted, account, () => current ?? workspace())];
    if (current !== null && current !== workspace()) return [current];
    return withFallbacks(workspace(), account);
  }

  #note(id: string, spec: CommandSpec, account: Account, cwd: string): CommandNote {
    return {
      id,
      fingerprint: spec.fingerprint,
      sessionId: spec.sessionId,
      command: recordedText(spec.command),
      args: recordedTexts(spec.args),
      user: account.name,
      cwd,
      merge: spec.merge,
      hasTerminal: spec.stdin.kind === 'terminal',
      label: spec.label ?? null,
      createdMs: this.deps.now(),
    };
  }

  /** Like `#spawn`, but passes a script that is too long for an argument through a file. */
  async #start(note: CommandNote, spec: CommandSpec, run: Run): Promise<Child> {
    const { scripts, accounts } = this.deps;
    const [shell = '', option = '', script = ''] = run.argv;
    if (spec.shell === 'none' || !isTooLongForArgument(script)) return await this.#spawn(note, spec, run);
    let path: string | null = null;
    try {
      path = scripts.place();
      scripts.write(path, script, accounts.unlessOwn(run.account));
      const child = await this.#spawn(note, spec, { ...run, argv: [shell, option, readingScript(path)] });
      void removeAtEnd(child, path, scripts);
      return child;
    } catch (error) {
      if (path !== null) scripts.remove(path);
      throw directoryRefusal(error);
    }
  }

  #spawn(note: CommandNote, spec: CommandSpec, { account, argv, env }: Run): Promise<Child> {
    const { accounts, budget, keptBytes, spawn } = this.deps;
    const request = {
      plane: 'commands',
      note,
      input: spec.stdin.kind === 'bytes' ? spec.stdin.bytes : null,
      argv,
      env,
      cwd: note.cwd,
      account: accounts.unlessOwn(account),
      stdin: streamsOf(spec.stdin),
      merge: spec.merge,
      isAwaited: spec.isAwaited,
      isMember: spec.isMember ?? false,
      capBytes: budget.capAtStart(keptBytes()),
      hardTimeoutMs: spec.hardTimeoutMs,
      graceMs,
      limits: resourceLimits(spec.limits),
    } as const;
    return launch(spawn, request, directoryRefusal);
  }
}

function streamsOf(stdin: StdinSource): 'pipe' | 'null' | TerminalSize {
  if (stdin.kind === 'terminal') return stdin.size;
  return stdin.kind === 'null' ? 'null' : 'pipe';
}
