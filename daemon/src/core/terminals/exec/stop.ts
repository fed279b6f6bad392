/** Ends the foreground job of a session, step by step. */
import { Deadline } from '../../../kit/deadline.ts';
import type { ExecTerminal } from './terminal.ts';

export interface Stoppable {
  readonly isOver: boolean;
  /** Resolves when the job may have ended, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

/** A signal reaches only the foreground program, so a command of several programs may need several steps. */
const steps: readonly { readonly signal: NodeJS.Signals; readonly graceMs: number }[] = [
  { signal: 'SIGINT', graceMs: 1000 },
  { signal: 'SIGTERM', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 5000 },
];

/** Ends the foreground job of a session with SIGINT, then SIGTERM, then SIGKILL. */
export async function stopForeground(terminal: ExecTerminal, job: Stoppable, ending: AbortSignal): Promise<void> {
  for (const { signal, graceMs } of steps) {
    if (job.isOver || ending.aborted) return;
    sendTo(terminal, signal);
    using deadline = new Deadline(graceMs, ending);
    while (!job.isOver && !deadline.passed) await job.changed(deadline.signal);
  }
}

function sendTo(terminal: ExecTerminal, signal: NodeJS.Signals): void {
  try {
    terminal.signal(signal);
  } catch {
    // The job ended meanwhile, or it belongs to another account. The next step may reach it.
  }
}
