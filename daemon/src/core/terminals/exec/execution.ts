/** Runs one command in the shell of a session, from the typed line to its end mark. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import { stopForeground } from './stop.ts';
import { plainText, readHead, readOutput, readRange, withoutPromptStart, type OutputText } from './output.ts';
import type { ConsoleRecord, ExecAnswer, ExecNote, ExecStatus, RunStatus } from './record.ts';
import type { ExecShell } from './shell.ts';
import { MarkReader, type Mark } from './marks.ts';
import type { ShellKind } from './shells/shell-script.ts';
import type { ExecTerminal } from './terminal.ts';

export interface ExecEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly exitCode: number | null;
}

/** How often the shell itself is checked, for an end without a mark. */
const lookEveryMs = 250;
/** A shell that does not take the line within this time is busy with something else. */
const takenWithinMs = 2000;
const maxAttempts = 3;
/** For output longer than this, the beginning is kept here, because the log may drop it. */
const longBytes = 1024 * 1024;
const maxPromptBytes = 4096;

export class Execution {
  readonly command: string;
  #end: ExecEnd | null = null;
  /** Why the command never began. */
  #failure: CoreError | null = null;
  #changedMs = 0;
  #stoppedAs: 'hard_timeout' | 'terminated' | null = null;
  #ps1 = '';
  #isMissed = false;
  #record: ConsoleRecord | null = null;
  #reader: MarkReader;
  #child: Child | null;
  readonly #changes = new Notifier();
  #promptFrom: number | null = null;
  #outputFrom: number | null = null;
  #outputTo: number | null = null;
  /** The shell whose prompt reported the end, and the exit code; null if the command's own mark reported it. */
  #prompt: { readonly kind: ShellKind; readonly code: number | null } | null = null;
  /** True once everything needed to begin has been typed, by this daemon or an earlier one. */
  #isTyped = false;
  #head: Uint8Array | null = null;

  constructor(
    private readonly terminal: ExecTerminal,
    private readonly shell: ExecShell,
    private current: ExecNote,
  ) {
    this.command = current.command;
    this.#reader = new MarkReader(terminal.log, current.from, current.token);
    this.#child = terminal.log.children.at(-1) ?? null;
  }

  get note(): ExecNote {
    return this.current;
  }

  get isStarted(): boolean {
    return this.#outputFrom !== null;
  }

  /** null while the command runs. */
  get end(): ExecEnd | null {
    return this.#end;
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  /** True if the shell ended before the command began. */
  get isMissed(): boolean {
    return this.#isMissed;
  }

  /** Time of the last output, or of the start. */
  get changedMs(): number {
    return this.#changedMs;
  }

  /** The offset of the command's output in the session log; null before it begins. */
  get from(): number | null {
    return this.#outputFrom;
  }

  /** The offset of the end of the command's output, as far as known. */
  get to(): number {
    return this.#outputTo ?? this.#reader.at;
  }

  /** Resolves when output arrives, when the command starts or ends, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** Returns how the command ended, or its status when it was quiet for too long or the signal aborts. */
  async outcome(quietMs: number | null, signal: AbortSignal): Promise<ExecStatus> {
    while (!this.#end && !signal.aborted) {
      const nowMs = this.shell.now();
      const quietSinceMs = this.isStarted ? this.#changedMs : nowMs;
      // A command that is being stopped is about to end.
      const leftMs = quietMs === null || this.#stoppedAs ? null : quietSinceMs + quietMs - nowMs;
      if (leftMs !== null && leftMs <= 0) return 'no_change_timeout';
      using look = new Deadline(leftMs, signal);
      await this.changed(look.signal);
    }
    return this.#end?.status ?? 'running';
  }

  /** The answer for a caller that waited until this status. Throws why the command never began. */
  answer(status: ExecStatus, isCut: boolean): ExecAnswer {
    if (this.#failure) throw this.#failure;
    const { text, isTruncated } = this.#output(isCut);
    const record = { ps1: this.#ps1, command: this.command, output: text };
    const exitCode = status === 'completed' ? (this.#end?.exitCode ?? null) : null;
    return { command: this.command, status, output: text, isTruncated, console: [record], exitCode };
  }

  /** The record of the command for clients that read the session. Fixed at the end, because the log may drop output. */
  get record(): ConsoleRecord {
    return this.#record ?? { command: this.command, ps1: this.#ps1, output: this.#output(true).text };
  }

  /** Ends the command with all its processes. The end has this status, whatever the command prints last. */
  async stop(status: 'hard_timeout' | 'terminated', ending: AbortSignal): Promise<void> {
    this.#stoppedAs ??= status;
    await stopForeground(this.terminal, this, ending);
  }

  /** The output so far, or all of it after the end. */
  #output(isCut: boolean): OutputText {
    if (this.#outputFrom === null) return { text: '', isTruncated: false };
    const range = { from: this.#outputFrom, to: this.to, head: this.#head };
    const output = readOutput(this.terminal.log, range, isCut);
    if (!this.#prompt) return output;
    return { ...output, text: withoutPromptStart(output.text, this.#prompt.kind, this.#prompt.code) };
  }

  /** Prepares to run in another shell, after the previous shell ended before the command began. */
  beginAgain(note: ExecNote): void {
    this.current = note;
    this.#isMissed = false;
    this.#promptFrom = null;
    this.#reader = new MarkReader(this.terminal.log, note.from, note.token);
    this.#child = this.terminal.log.children.at(-1) ?? null;
  }

  /** Types the line that makes the shell read the script. Fails the execution if the shell never takes the line. */
  async start(keys: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      await this.#type(keys, signal);
      do {
        using deadline = new Deadline(takenWithinMs, signal);
        await this.#follow(deadline.signal, () => this.isStarted);
        if (this.isStarted || this.#end || this.#isMissed || signal.aborted) return;
      } while (!this.shell.isWaiting());
      // A half-typed command would take the line as its continuation. Cancel that command first.
      await this.#type('\x03', signal);
    }
    this.fail(notTaken(this.terminal));
  }

  /** Follows the command until its end, or until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isTyped = true;
    await this.#follow(signal, () => false);
    if (this.#isMissed && !this.terminal.isTerminated) this.fail(neverBegan(this.terminal));
    else if (this.#isMissed) this.finish({ status: 'terminated', exitCode: null });
  }

  /** Ends an execution that never begins. */
  fail(reason: CoreError): void {
    this.#failure = reason;
    this.finish({ status: 'terminated', exitCode: null });
  }

  /** Sets the end once. A command that was stopped gets the status it was stopped with. */
  finish(end: ExecEnd): void {
    this.#end ??= this.#stoppedAs === null || end.status === 'terminated' ? end : stoppedEnd(this.#stoppedAs, end);
    this.#outputTo ??= this.#reader.at;
    this.#record ??= this.record;
    this.#changes.notify();
  }

  /** Skips a shell that has ended. The caller detects that end later. */
  async #type(keys: string, signal: AbortSignal): Promise<void> {
    if (!this.#child?.end) await this.terminal.input.type(Buffer.from(keys), signal);
  }

  async #follow(signal: AbortSignal, isEnough: () => boolean): Promise<void> {
    const { log } = this.terminal;
    let quietLooks = 0;
    for (;;) {
      const seen = log.refresh();
      const before = this.#reader.at;
      this.#read();
      if (this.#reader.at > before) quietLooks = 0;
      this.#settleDeath();
      if (this.#end || this.#isMissed || signal.aborted || isEnough()) return;
      log.watch();
      if (log.refresh() > seen) continue;
      using look = new Deadline(lookEveryMs, signal);
      await log.changed(look.signal);
      if (!look.passed || log.refresh() > seen) continue;
      // Check twice, because a prompt may be about to print the end mark.
      if (this.#hasNoMark()) quietLooks++;
      else quietLooks = 0;
      if (quietLooks >= 2) this.finish({ status: this.isStarted ? 'completed' : 'terminated', exitCode: null });
    }
  }

  /** True if the shell waits for its next line although the start mark or the end mark is missing. */
  #hasNoMark(): boolean {
    return this.isStarted ? this.shell.hasForgotten(this.note) : this.#isTyped && this.shell.isWaiting();
  }

  #read(): void {
    const before = this.#reader.at;
    for (const mark of this.#reader.read()) this.#take(mark);
    // The start mark is lost if the command printed more output than the log keeps.
    if (this.#reader.hasGap) this.#outputFrom ??= this.note.from;
    if (this.#reader.at === before || this.#end) return;
    const from = this.#outputFrom;
    if (from !== null && this.#reader.at - from > longBytes) this.#head ??= readHead(this.terminal.log, from);
    this.#changedMs = this.shell.now();
    this.#changes.notify();
  }

  #take(mark: Mark): void {
    if (this.#end) return;
    if (mark.kind === 'P') this.#promptFrom = mark.to;
    else if (mark.kind === 'B') this.#ps1 = this.#promptText(mark.from);
    else if (mark.kind === 'C') {
      this.#outputFrom ??= mark.to;
      this.#changedMs = this.shell.now();
    } else {
      this.#outputFrom ??= mark.from;
      this.#outputTo = mark.from;
      const { kind } = this.shell;
      if (mark.kind === 'H' && kind) this.#prompt = { kind, code: mark.code };
      this.finish({ status: 'completed', exitCode: mark.code });
    }
  }

  #promptText(to: number): string {
    const from = Math.max(this.#promptFrom ?? to, to - maxPromptBytes);
    return plainText(readRange(this.terminal.log, from, to));
  }

  /** A shell that exits ends the command with the shell's own exit code. */
  #settleDeath(): void {
    const end = this.#child?.end;
    if (this.#end || (!end && !this.terminal.isTerminated)) return;
    this.#read();
    if (this.#end) return;
    // The start mark is lost where the process that holds the terminal was killed.
    this.#isMissed = !this.isStarted && !this.shell.hasTakenScript;
    if (this.#isMissed) return;
    const exitCode = end?.kind === 'exited' ? end.exitCode : null;
    if (exitCode !== null && this.#stoppedAs === null) this.finish({ status: 'completed', exitCode });
    else this.finish({ status: this.#stoppedAs ?? 'terminated', exitCode: null });
  }
}

function notTaken({ id }: ExecTerminal): CoreError {
  return new CoreError('unavailable', 'the shell of the session did not take the command', {
    hint: 'Look at the screen. The input \\u0003 discards what was typed before.',
    next: { operation: 'terminals.type', id },
  });
}

function neverBegan({ id }: ExecTerminal): CoreError {
  return new CoreError('unavailable', 'each shell of the session ended before it took the command', {
    hint: 'Check the files that the shell reads when it starts.',
    next: { operation: 'terminals.look', id },
  });
}

/** A caller that terminated the command may want the exit code. */
function stoppedEnd(status: 'hard_timeout' | 'terminated', { exitCode }: ExecEnd): ExecEnd {
  return { status, exitCode: status === 'terminated' ? exitCode : null };
}
