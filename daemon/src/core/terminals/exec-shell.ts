/** The shell of a session as exec sees it: what kind it is, whether it waits for a line, and the scripts it is given. */
import { CoreError } from '../../kit/errors.ts';
import type { ScriptDirectory } from '../../platform/script-directory.ts';
import type { TerminalJobs } from '../../platform/terminal-job.ts';
import type { TerminalModes } from '../../platform/terminal-mode.ts';
import type { Accounts } from '../identity/accounts.ts';
import type { ExecDirectory, ExecNote } from './exec-record.ts';
import { systemRefusal } from '../identity/refusal.ts';
import { keysFor, readScriptLine, shellKind, shellScript, type ShellKind } from './shells/shell-script.ts';
import type { Terminal } from './terminal.ts';

export interface ExecShellDeps {
  readonly accounts: Accounts;
  readonly jobs: TerminalJobs;
  readonly modes: TerminalModes;
  readonly now: () => number;
  readonly scripts: Pick<ScriptDirectory, 'place' | 'write' | 'remove'>;
}

/** Where nothing can be known of a shell, it waits for a line when it has been quiet for so long. */
const quietMs = 1000;
/** Of a command, as it is shown in place of the line that was typed. */
const mostShown = 1000;

export class ExecShell {
  #quiet = { end: -1, sinceMs: 0 };

  constructor(
    private readonly terminal: Terminal,
    private readonly deps: ExecShellDeps,
  ) {}

  now(): number {
    return this.deps.now();
  }

  get image(): string | null {
    return this.terminal.pid === null ? null : this.deps.modes.image(this.terminal.pid);
  }

  /** null when it is no shell known here, or gone. */
  get kind(): ShellKind | null {
    const { pid } = this.terminal;
    const program = pid === null ? undefined : this.deps.jobs.shell(pid)?.program;
    return program === undefined ? null : shellKind(program);
  }

  /** For a line, with nothing else in its foreground. */
  isWaiting(): boolean {
    const { pid } = this.terminal;
    const shell = pid === null ? null : this.deps.jobs.shell(pid);
    if (pid === null || !shell || shell.foreground !== shell.group) return false;
    const waiting = this.deps.modes.waiting(pid);
    return waiting === 'unknown' ? this.#isQuiet() : waiting !== 'no';
  }

  /** It waits for a line though it was to tell of the end first: it became another program, or has lost what tells. */
  hasForgotten({ image }: ExecNote): boolean {
    const { pid } = this.terminal;
    if (pid === null || !this.isWaiting()) return false;
    if (this.image !== image) return true;
    // The `read` of fish has the editor of its prompt, and that of dash reads a terminal as its prompt does.
    return this.deps.modes.waiting(pid) === 'editor' && this.kind !== 'fish';
  }

  /** Writes the script of a command; answers its path and the keys that have the shell read it. Throws `unavailable`. */
  prepare(
    command: string,
    token: string,
    directory: ExecDirectory | null,
  ): { readonly path: string; readonly keys: string } {
    const kind = this.kind;
    if (kind === null) throw unknownShell(this.terminal);
    const { accounts, scripts } = this.deps;
    const account = accounts.resolve(this.terminal.record.user);
    try {
      const path = scripts.place();
      const line = readScriptLine(kind, path);
      const size = { cols: this.terminal.size.cols, typedCols: line.length };
      const text = shellScript(kind, { command, shown: shownText(command), token, directory, ...size });
      scripts.write(path, text, accounts.isOwn(account) ? null : account);
      return { path, keys: keysFor(line) };
    } catch (error) {
      throw systemRefusal(error, 'a terminal');
    }
  }

  /** The script was read, or never will be. */
  discard(path: string): void {
    this.deps.scripts.remove(path);
  }

  #isQuiet(): boolean {
    const end = this.terminal.log.refresh();
    if (end !== this.#quiet.end) this.#quiet = { end, sinceMs: this.deps.now() };
    return this.deps.now() - this.#quiet.sinceMs >= quietMs;
  }
}

/** A terminal acts on control characters, so they are shown as ^X. */
function shownText(command: string): string {
  const text = command.length > mostShown ? `${command.slice(0, mostShown)}…` : command;
  // oxlint-disable-next-line no-control-regex -- it is about control characters
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (character) =>
    character === '\x7f' ? '^?' : `^${String.fromCharCode(character.charCodeAt(0) + 64)}`,
  );
}

function unknownShell(terminal: Terminal): CoreError {
  return new CoreError('unavailable', `exec does not know the shell of session ${terminal.id}`, {
    hint: 'It knows bash, zsh, fish, dash and the shell of busybox; input types into any other program.',
  });
}
