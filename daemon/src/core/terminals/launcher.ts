/** Starts the shell of a session as its account, where the session begins. */
import { CoreError } from '../../kit/errors.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { commandEnvironment } from '../identity/environment.ts';
import { encodeNote } from './note.ts';
import { systemRefusal } from '../identity/refusal.ts';
import { startIn } from '../identity/start-in.ts';
import type { BackendName, ShellBackend, ShellLaunch, ShellProcess } from './shell-process.ts';
import type { TerminalRecord } from './terminal.ts';

export interface TerminalLauncherDeps {
  readonly accounts: Accounts;
  /** Those that may be used now, the best one first. Throws `unavailable`. */
  readonly backends: () => readonly ShellBackend[];
  /** What every shell's environment starts from. */
  readonly environment: Readonly<Record<string, string>>;
  /** Looks a program up in a PATH, now; null when it is not there. */
  readonly findProgram: (name: string, path: string) => string | null;
  /** Whether there is a program at this path that can be run. */
  readonly isProgram: (path: string) => boolean;
  /** Bytes of output that a session keeps. */
  readonly capBytes: number;
}

/** Where and how a shell begins. */
interface Start {
  readonly shell: string;
  readonly cwd: string;
  readonly from: number;
  readonly notice: string | null;
  readonly backend: BackendName;
}

/** What a terminal emulator of today can show; the screen of this daemon can. */
const terminalVariables = { TERM: 'xterm-256color', COLORTERM: 'truecolor' };
/** Programs that are there to keep an account from having a shell. */
const noShell = /\/(?:nologin|false)$/;

export class TerminalLauncher {
  constructor(private readonly deps: TerminalLauncherDeps) {}

  /** Absolute, `~` being the home of the account. */
  directoryOf(path: string | null, user: string | null): string {
    const account = this.deps.accounts.resolve(user);
    const home = user === null ? this.deps.accounts.default().home : account.home;
    if (path === null) return home;
    if (path.startsWith('/')) return path;
    if (path === '~' || path.startsWith('~/')) return `${account.home}${path.slice(1)}`;
    return `${this.deps.accounts.default().home}/${path}`;
  }

  /** Throws `bad_argument` for an account that is not there. */
  accountName(user: string | null): string {
    return this.deps.accounts.resolve(user).name;
  }

  /** `from` is where its output begins in that of the session; a defaulted directory has alternatives; the notice is shown first. */
  async launch(
    record: TerminalRecord,
    from: number,
    isDefaulted: boolean,
    notice: string | null = null,
  ): Promise<ShellProcess> {
    const account = this.deps.accounts.resolve(record.user);
    const shell = this.#shellOf(account);
    const directories = isDefaulted ? [...new Set([record.cwd, account.home, '/'])] : [record.cwd];
    return await startIn(directories, { what: shell, user: account.name }, (cwd) =>
      this.#start((backend) => this.#launchOf(record, account, { shell, cwd, from, notice, backend })),
    );
  }

  #launchOf(record: TerminalRecord, account: Account, start: Start): ShellLaunch {
    const { shell, cwd, from, notice, backend } = start;
    const { accounts, capBytes, environment } = this.deps;
    const image = { ...environment, ...terminalVariables, ...localeOf(environment) };
    return {
      name: record.id,
      note: encodeNote({ terminalId: record.id, from, backend }),
      argv: this.#argvOf(shell, notice),
      env: { ...commandEnvironment(image, account, [record.env]), SHELL: shell },
      cwd,
      account: accounts.isOwn(account) ? null : account,
      size: { cols: record.cols, rows: record.rows },
      capBytes,
    };
  }

  #argvOf(shell: string, notice: string | null): string[] {
    const sh = notice === null ? null : this.deps.findProgram('sh', this.deps.environment['PATH'] ?? '');
    return notice === null || sh === null ? [shell] : [sh, '-c', 'printf "%s\\n" "$1"; exec "$0"', shell, notice];
  }

  /** Where one cannot do it, the next one does. */
  async #start(launchOf: (backend: BackendName) => ShellLaunch): Promise<ShellProcess> {
    const backends = this.deps.backends();
    for (const backend of backends) {
      try {
        return await backend.start(launchOf(backend.name));
      } catch (error) {
        const isUnavailable = error instanceof CoreError && error.code === 'unavailable';
        if (!isUnavailable || backend === backends.at(-1)) throw systemRefusal(error, 'a terminal');
      }
    }
    throw new Error('there is always a backend');
  }

  /** The login shell of the account; where that is none, the first that the image has. */
  #shellOf({ shell }: Account): string {
    if (!noShell.test(shell) && this.deps.isProgram(shell)) return shell;
    const path = this.deps.environment['PATH'] ?? '';
    const found = this.deps.findProgram('bash', path) ?? this.deps.findProgram('sh', path);
    if (found !== null) return found;
    throw new CoreError('unavailable', 'no bash or sh on PATH', { hint: 'Install a shell in the image.' });
  }
}

/** Without a locale, programs take the bytes of other alphabets for noise. */
function localeOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  const isSet = ['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => environment[name]);
  return isSet ? {} : { LANG: 'C.UTF-8' };
}
