/** Starts the shell of a session under its account and in its directory. */
import { CoreError } from '../../../kit/errors.ts';
import type { Account, Accounts } from '../../identity/accounts.ts';
import { commandEnvironment, terminalVariables } from '../../processes/environment.ts';
import { directoryOf, withFallbacks } from '../../processes/directory.ts';
import { launchIn } from '../../processes/launch.ts';
import { differences, type RequestedValues, type SessionValues } from '../../processes/same-session.ts';
import { argumentsWithoutStartUp, environmentWithoutStartUp } from './start-up.ts';
import type { ShellBackend, ShellLaunch, ShellProcess } from '../backends/shell-process.ts';
import type { BackendName } from '../backends/names.ts';
import type { TerminalRecord } from './terminal.ts';

export interface TerminalLauncherDeps {
  readonly accounts: Accounts;
  /** Returns the backend for a session that starts now. Throws `unavailable`. */
  readonly backend: () => ShellBackend;
  /** Base environment of every shell. */
  readonly environment: Readonly<Record<string, string>>;
  /** Looks up a program in a PATH now; null if it is not there. */
  readonly findProgram: (name: string, path: string) => string | null;
  /** Returns whether the path is an executable program. */
  readonly isProgram: (path: string) => boolean;
  /** Bytes of output that a session keeps. */
  readonly capBytes: number;
}

export interface Launched {
  readonly process: ShellProcess;
  /** Where the shell started. Differs from the record if the recorded directory could not be entered. */
  readonly cwd: string;
}

interface Start {
  readonly shell: string;
  readonly cwd: string;
  readonly from: number;
  readonly notice: string | null;
  readonly backend: BackendName;
}

/** Login shells whose purpose is to deny a shell to the account. */
const noShell = /\/(?:nologin|false)$/;

export class TerminalLauncher {
  constructor(private readonly deps: TerminalLauncherDeps) {}

  /** Makes a path absolute, with `~` as the home of the account. null means the workspace. */
  directoryOf(path: string | null, user: string | null): string {
    return directoryOf(this.deps.accounts, path, user);
  }

  /** Throws `bad_argument` for an unknown account. */
  accountName(user: string | null): string {
    return this.deps.accounts.resolve(user).name;
  }

  /** What the session has instead of the requested values. */
  differences(session: SessionValues, requested: RequestedValues): string[] {
    return differences(session, requested, this.deps.accounts);
  }

  /** `from` is the offset of the shell's output in the log. A defaulted directory has fallbacks. */
  async launch(
    record: TerminalRecord,
    from: number,
    isDefaulted: boolean,
    notice: string | null = null,
  ): Promise<Launched> {
    const account = this.deps.accounts.resolve(record.user);
    const shell = this.#shellOf(account);
    const directories = isDefaulted ? withFallbacks(record.cwd, account) : [record.cwd];
    let entered = record.cwd;
    const process = await launchIn(directories, { what: shell, user: account.name }, async (cwd) => {
      entered = cwd;
      const backend = this.deps.backend();
      return await backend.start(this.#launchOf(record, account, { shell, cwd, from, notice, backend: backend.name }));
    });
    return { process, cwd: entered };
  }

  #launchOf(record: TerminalRecord, account: Account, start: Start): ShellLaunch {
    const { shell, cwd, from, notice, backend } = start;
    const { accounts, capBytes, environment } = this.deps;
    const image = { ...environment, ...terminalVariables, ...localeOf(environment) };
    const { skipsStartUp = false } = record;
    const changes = [record.env, skipsStartUp ? environmentWithoutStartUp : {}];
    return {
      name: record.id,
      note: { terminalId: record.id, from, backend },
      argv: this.#argvOf([shell, ...(skipsStartUp ? argumentsWithoutStartUp(shell) : [])], notice),
      env: { ...commandEnvironment(image, account, changes), SHELL: shell },
      cwd,
      account: accounts.unlessOwn(account),
      size: { cols: record.cols, rows: record.rows },
      capBytes,
    };
  }

  #argvOf(shell: readonly string[], notice: string | null): readonly string[] {
    const sh = notice === null ? null : this.deps.findProgram('sh', this.deps.environment['PATH'] ?? '');
    if (notice === null || sh === null) return shell;
    return [sh, '-c', 'printf "%s\\n" "$0"; exec "$@"', notice, ...shell];
  }

  /** The login shell of the account. If the account has none, the first shell in the image. */
  #shellOf({ shell }: Account): string {
    if (!noShell.test(shell) && this.deps.isProgram(shell)) return shell;
    const path = this.deps.environment['PATH'] ?? '';
    const found = this.deps.findProgram('bash', path) ?? this.deps.findProgram('sh', path);
    if (found !== null) return found;
    throw new CoreError('unavailable', 'no bash or sh on PATH', {
      isRetryable: false,
      hint: 'Install a shell in the image.',
    });
  }
}

/** Without a locale, programs treat non-ASCII bytes as invalid. */
function localeOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  const isSet = ['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => environment[name]);
  return isSet ? {} : { LANG: 'C.UTF-8' };
}
