/** One command in the shell of a session: from the line that has the shell read it to the mark of its end. */
import type { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { Child } from '../../platform/spawn.ts';
import { neverBegan, notTaken } from './exec-refusal.ts';
import type { ConsoleRecord, ExecNote, RunStatus } from './exec-record.ts';
import { plainText, readHead, readOutput, type OutputText } from './exec-output.ts';
import type { ExecShell } from './exec-shell.ts';
import { MarkReader, type Mark } from './marks.ts';
import { withoutPromptStart } from './shells/prompt-start.ts';
import type { ShellKind } from './shells/shell-script.ts';
import type { Terminal } from './terminal.ts';

export interface ExecEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly exitCode: number | null;
}

/** How often the shell itself is looked at, for an end that no mark tells of. */
const lookEveryMs = 250;
/** A shell that does not take the line within that has other things on its mind. */
const takenWithinMs = 2000;
const mostAttempts = 3;
/** The beginning of output that is longer is kept here: its log may lose it. */
const longBytes = 1024 * 1024;
const mostPromptBytes = 4096;

export class Execution {
  readonly command: string;
  end: ExecEnd | null = null;
  /** Why it never began. */
  failure: CoreError | null = null;
  /** When it printed something last, or began. */
  changedMs = 0;
  /** Somebody wants it to end: it is told to have ended so, whatever its last words are. */
  stoppedAs: 'hard_timeout' | 'terminated' | null = null;
  ps1 = '';
  /** Its shell has ended before it began. */
  isMissed = false;
  #reader: MarkReader;
  #child: Child | null;
  readonly #changes = new Notifier();
  #promptFrom: number | null = null;
  #outputFrom: number | null = null;
  #outputTo: number | null = null;
  /** The shell whose prompt has told of the end, and with what code; null when the command's own mark has. */
  #prompt: { readonly kind: ShellKind; readonly code: number | null } | null = null;
  /** All that is done for it to begin has been done, here or in an earlier daemon. */
  #isTyped = false;
  #head: Buffer | null = null;

  constructor(
    private readonly terminal: Terminal,
    private readonly shell: ExecShell,
    private current: ExecNote,
    /** The commands of the session before it. */
    readonly before: readonly ConsoleRecord[] = [],
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

  get isOver(): boolean {
    return this.end !== null;
  }

  /** Where its output begins in that of the session; null before it does. */
  get from(): number | null {
    return this.#outputFrom;
  }

  /** Where its output ends, as far as it is known. */
  get to(): number {
    return this.#outputTo ?? this.#reader.at;
  }

  /** Resolves at new output, at its start, at its end, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  /** So far, or all of it. */
  output(isCut: boolean): OutputText {
    if (this.#outputFrom === null) return { text: '', isTruncated: false };
    const range = { from: this.#outputFrom, to: this.to, head: this.#head };
    const output = readOutput(this.terminal.log, range, isCut);
    if (!this.#prompt) return output;
    return { ...output, text: withoutPromptStart(output.text, this.#prompt.kind, this.#prompt.code) };
  }

  /** In another shell, after it has missed the one before. */
  beginAgain(note: ExecNote): void {
    this.current = note;
    this.isMissed = false;
    this.#promptFrom = null;
    this.#reader = new MarkReader(this.terminal.log, note.from, note.token);
    this.#child = this.terminal.log.children.at(-1) ?? null;
  }

  /** Has the shell read the script, and sees to it that it does; one that never does is the failure of it. */
  async start(keys: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      await this.#type(keys, signal);
      do {
        using deadline = new Deadline(takenWithinMs, signal);
        await this.#follow(deadline.signal, () => this.isStarted);
        if (this.isStarted || this.end || this.isMissed || signal.aborted) return;
      } while (!this.shell.isWaiting());
      // Half of a command that somebody has typed before takes the line for its other half.
      await this.#type('\x03', signal);
    }
    this.fail(notTaken());
  }

  /** Until its end, or the signal. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isTyped = true;
    await this.#follow(signal, () => false);
    if (this.isMissed && !this.terminal.isTerminated) this.fail(neverBegan());
    else if (this.isMissed) this.finish({ status: 'terminated', exitCode: null });
  }

  /** It never begins. */
  fail(reason: CoreError): void {
    this.failure = reason;
    this.finish({ status: 'terminated', exitCode: null });
  }

  /** Nobody will tell how it ended. */
  finish(end: ExecEnd): void {
    this.end ??= this.stoppedAs === null || end.status === 'terminated' ? end : stoppedEnd(this.stoppedAs, end);
    this.#outputTo ??= this.#reader.at;
    this.#changes.notify();
  }

  /** A shell that ends meanwhile is found to have ended. */
  async #type(keys: string, signal: AbortSignal): Promise<void> {
    if (!this.#child?.end) await this.terminal.type(Buffer.from(keys), signal);
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
      if (this.end || this.isMissed || signal.aborted || isEnough()) return;
      log.watch();
      if (log.refresh() > seen) continue;
      using look = new Deadline(lookEveryMs, signal);
      await log.changed(look.signal);
      if (!look.passed || log.refresh() > seen) continue;
      // It is looked at twice: a prompt may be about to tell.
      if (this.#hasNoMark()) quietLooks++;
      else quietLooks = 0;
      if (quietLooks >= 2) this.finish({ status: this.isStarted ? 'completed' : 'terminated', exitCode: null });
    }
  }

  /** The shell waits for its next line, and no mark will come: that of the end, or that of the start. */
  #hasNoMark(): boolean {
    return this.isStarted ? this.shell.hasForgotten(this.note) : this.#isTyped && this.shell.isWaiting();
  }

  #read(): void {
    const before = this.#reader.at;
    for (const mark of this.#reader.read()) this.#take(mark);
    // The mark of its start is gone where it has printed more than is kept.
    if (this.#reader.hasGap) this.#outputFrom ??= this.note.from;
    if (this.#reader.at === before || this.end) return;
    const from = this.#outputFrom;
    if (from !== null && this.#reader.at - from > longBytes) this.#head ??= readHead(this.terminal.log, from);
    this.changedMs = this.shell.now();
    this.#changes.notify();
  }

  #take(mark: Mark): void {
    if (this.end) return;
    if (mark.kind === 'P') this.#promptFrom = mark.to;
    else if (mark.kind === 'B') this.ps1 = this.#promptText(mark.from);
    else if (mark.kind === 'C') {
      this.#outputFrom ??= mark.to;
      this.changedMs = this.shell.now();
    } else {
      this.#outputFrom ??= mark.from;
      this.#outputTo = mark.from;
      const { kind } = this.shell;
      if (mark.kind === 'H' && kind) this.#prompt = { kind, code: mark.code };
      this.finish({ status: 'completed', exitCode: mark.code });
    }
  }

  #promptText(to: number): string {
    const from = Math.max(this.#promptFrom ?? to, to - mostPromptBytes);
    const piece = this.terminal.log.readInto(Buffer.allocUnsafe(to - from), from);
    return piece?.kind === 'bytes' ? plainText(piece.bytes) : '';
  }

  /** A shell that ends by itself ends the command with its own exit code. */
  #settleDeath(): void {
    const end = this.#child?.end;
    if (this.end || (!end && !this.terminal.isTerminated)) return;
    this.#read();
    if (this.end) return;
    this.isMissed = !this.isStarted;
    if (this.isMissed) return;
    const exitCode = end?.kind === 'exited' ? end.exitCode : null;
    if (exitCode !== null && this.stoppedAs === null) this.finish({ status: 'completed', exitCode });
    else this.finish({ status: this.stoppedAs ?? 'terminated', exitCode: null });
  }
}

/** Whoever ended it by hand may want to know its code. */
function stoppedEnd(status: 'hard_timeout' | 'terminated', { exitCode }: ExecEnd): ExecEnd {
  return { status, exitCode: status === 'terminated' ? exitCode : null };
}
