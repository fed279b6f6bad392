/** Provides exec's view of a session's shell: its kind, its prompt, and the scripts that it reads. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { ScriptDirectory } from '../../../platform/stores/script-directory.ts';
import type { TerminalJobs } from '../../../platform/terminal/terminal-job.ts';
import type { TerminalModes } from '../../../platform/terminal/terminal-mode.ts';
import type { Accounts } from '../../identity/accounts.ts';
import type { ExecDirectory, ExecNote } from './record.ts';
import { systemRefusal } from '../../processes/refusal.ts';
import { keysFor, readScriptLine, shellKind, shellScript, type ShellKind } from './shells/shell-script.ts';
import type { ExecTerminal } from './terminal.ts';

export interface ExecShellDeps {
  readonly accounts: Accounts;
  readonly jobs: TerminalJobs;
  readonly modes: TerminalModes;
  readonly now: () => number;
  /** How long the start-up files may take once a command waits for the prompt. */
  readonly startUpMs: number;
  readonly scripts: Pick<ScriptDirectory, 'place' | 'write' | 'hasGrown' | 'remove'>;
}

/** If the state of the shell is unknown, the shell counts as waiting after this long without output. */
const quietMs = 1000;
/** Limit for the command text shown in place of the typed line. */
const maxShownCharacters = 1000;
const [firstLookMs, maxLookMs] = [1, 50];
/** The longest wait from the end of a command to the next prompt or the end of the shell. */
const settledWithinMs = 10_000;
const restartedWithinMs = 10_000;

export class ExecShell {
  #quiet = { end: -1, sinceMs: 0 };
  #script: { readonly path: string; readonly bytes: number } | null = null;

  constructor(
    private readonly terminal: ExecTerminal,
    private readonly deps: ExecShellDeps,
  ) {}

  now(): number {
    return this.deps.now();
  }

  get image(): string | null {
    return this.terminal.pid === null ? null : this.deps.modes.image(this.terminal.pid);
  }

  /** null if the program is not a known shell, or has ended. */
  get kind(): ShellKind | null {
    const { pid } = this.terminal;
    const program = pid === null ? undefined : this.deps.jobs.shell(pid)?.program;
    return program === undefined ? null : shellKind(program);
  }

  /** True if the shell waits for a line and nothing else has the foreground. */
  isWaiting(): boolean {
    const { pid } = this.terminal;
    const shell = pid === null ? null : this.deps.jobs.shell(pid);
    if (pid === null || !shell || shell.foreground !== shell.group) return false;
    const waiting = this.deps.modes.waiting(pid);
    return waiting === 'unknown' ? this.#isQuiet() : waiting !== 'no';
  }

  /**
   * True if the shell waits for a line but will never print the end mark: it became another program, or lost the
   * functions that print the mark.
   */
  hasForgotten({ image }: ExecNote): boolean {
    const { pid } = this.terminal;
    if (pid === null || !this.isWaiting()) return false;
    if (this.image !== image) return true;
    // The `read` of fish uses the editor of the prompt, and the `read` of dash looks like its prompt.
    return this.deps.modes.waiting(pid) === 'editor' && this.kind !== 'fish';
  }

  /**
   * Waits for the prompt; false if the signal aborts first. `startsOver` restarts a shell without its start-up files if
   * they do not finish. Throws `terminal_ended`.
   */
  async prompt(signal: AbortSignal, { startsOver }: { readonly startsOver: boolean }): Promise<boolean> {
    for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 2, maxLookMs)) {
      void this.terminal.process; // Throws if the shell has ended.
      if (this.isWaiting()) return true;
      if (signal.aborted) return false;
      if (startsOver && this.#isStuck()) this.terminal.startOver();
      this.terminal.log.watch();
      using look = new Deadline(lookMs, signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** A command may be reported as ended right before its shell ends. That end also belongs to the command. */
  async settled(signal: AbortSignal): Promise<void> {
    using deadline = new Deadline(settledWithinMs, signal);
    for (let lookMs = firstLookMs; !deadline.passed; lookMs = Math.min(lookMs * 2, maxLookMs)) {
      // A person may have typed ahead. The typed job then starts before the prompt appears.
      if (this.terminal.end !== null || this.isWaiting() || this.terminal.hasJob) return;
      using look = new Deadline(lookMs, deadline.signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** After the shell ended, waits until another shell runs. */
  async restarted(signal: AbortSignal): Promise<void> {
    using deadline = new Deadline(restartedWithinMs, signal);
    while (this.terminal.end !== null && !this.terminal.isTerminated && !deadline.passed) {
      await this.terminal.log.changed(deadline.signal);
    }
  }

  /** Waits until the session was without output for this long; false if the signal aborts first. */
  async silence(quietMs: number, sinceMs: number, signal: AbortSignal): Promise<boolean> {
    const { log } = this.terminal;
    let [seen, quietSinceMs] = [log.refresh(), sinceMs];
    while (!signal.aborted) {
      const leftMs = quietSinceMs + quietMs - this.now();
      if (leftMs <= 0) return true;
      log.watch();
      using look = new Deadline(leftMs, signal);
      await log.changed(look.signal);
      if (log.refresh() === seen) continue;
      seen = log.end;
      quietSinceMs = this.now();
    }
    return false;
  }

  /** Writes the script. Returns its path and the keys that make the shell read it. Throws `unavailable`. */
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
      const text = shellScript(kind, { command, shown: shownText(command), path, token, directory, ...size });
      scripts.write(path, text, accounts.unlessOwn(account));
      this.#script = { path, bytes: Buffer.byteLength(text) };
      return { path, keys: keysFor(line) };
    } catch (error) {
      throw systemRefusal(error, 'a terminal');
    }
  }

  /** True if the shell has read the last script up to its command, which may have begun. */
  get hasTakenScript(): boolean {
    return this.#script !== null && this.deps.scripts.hasGrown(this.#script.path, this.#script.bytes);
  }

  /** Deletes a script that was read or never will be. */
  discard(path: string): void {
    this.#script = null;
    this.deps.scripts.remove(path);
  }

  /** If nothing was typed into the shell, only its start-up files can keep it busy. */
  #isStuck(): boolean {
    const { process, record, end } = this.terminal;
    if (record.skipsStartUp === true || end !== null || process.typedBytes !== 0) return false;
    return this.now() - process.child.startedMs > this.deps.startUpMs && this.kind !== null;
  }

  #isQuiet(): boolean {
    const end = this.terminal.log.refresh();
    if (end !== this.#quiet.end) this.#quiet = { end, sinceMs: this.deps.now() };
    return this.deps.now() - this.#quiet.sinceMs >= quietMs;
  }
}

/** A terminal acts on control characters, so they are shown as ^X. */
function shownText(command: string): string {
  const text = command.length > maxShownCharacters ? `${command.slice(0, maxShownCharacters)}…` : command;
  // oxlint-disable-next-line no-control-regex -- it is about control characters
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (character) =>
    character === '\x7f' ? '^?' : `^${String.fromCharCode(character.charCodeAt(0) + 64)}`,
  );
}

function unknownShell(terminal: ExecTerminal): CoreError {
  return new CoreError('unavailable', `exec does not support the shell of session ${terminal.id}`, {
    isRetryable: false,
    hint: 'exec supports bash, zsh, fish, dash and the shell of busybox.',
    next: { operation: 'terminals.type', id: terminal.id },
  });
}
