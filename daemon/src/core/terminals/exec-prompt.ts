/** Waits for the shell of a session: for its prompt, and for another shell behind one that has ended. */
import { Deadline } from '../../kit/deadline.ts';
import type { ExecLife } from './exec-life.ts';
import type { ExecShell } from './exec-shell.ts';
import type { Terminal } from './terminal.ts';

const [firstLookMs, longestLookMs] = [1, 50];
const restartedWithinMs = 10_000;
/** Between the end of a command and the next prompt, or the end of the shell. */
const settledWithinMs = 10_000;

export class ExecPrompt {
  constructor(
    private readonly terminal: Terminal,
    private readonly shell: ExecShell,
    private readonly life: ExecLife,
  ) {}

  /** False when the signal aborts first. Throws `terminal_ended`. */
  async isThere(signal: AbortSignal): Promise<boolean> {
    for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 2, longestLookMs)) {
      void this.terminal.process; // Throws when there is none.
      if (this.shell.isWaiting()) return true;
      if (signal.aborted) return false;
      this.terminal.log.watch();
      using look = new Deadline(lookMs, signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** A command may be told to have ended right before its shell does: that end is one of the command too. */
  async settled(): Promise<void> {
    using deadline = new Deadline(settledWithinMs, this.life.ending);
    for (let lookMs = firstLookMs; !deadline.passed; lookMs = Math.min(lookMs * 2, longestLookMs)) {
      // Somebody may have typed ahead: then there is a job before there is a prompt.
      if (this.terminal.end !== null || this.shell.isWaiting() || this.terminal.hasJob) return;
      using look = new Deadline(lookMs, deadline.signal);
      await this.terminal.log.changed(look.signal);
    }
  }

  /** After a death: until another shell runs. */
  async restarted(): Promise<void> {
    using deadline = new Deadline(restartedWithinMs, this.life.ending);
    while (this.terminal.end !== null && !this.terminal.isTerminated && !deadline.passed) {
      await this.terminal.log.changed(deadline.signal);
    }
  }
}
