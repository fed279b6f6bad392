/** Ends what has the foreground of a session: it is asked, then told, then killed. */
import { Deadline } from '../../kit/deadline.ts';
import type { Terminal } from './terminal.ts';

/** What is to end. */
export interface Stoppable {
  readonly isOver: boolean;
  /** Resolves when it may have ended, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

/** A command of several programs is asked program by program. */
const steps: readonly { readonly signal: NodeJS.Signals; readonly graceMs: number }[] = [
  { signal: 'SIGINT', graceMs: 1000 },
  { signal: 'SIGTERM', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 5000 },
];

export async function stopForeground(terminal: Terminal, job: Stoppable, ending: AbortSignal): Promise<void> {
  for (const { signal, graceMs } of steps) {
    if (job.isOver || ending.aborted) return;
    sendTo(terminal, signal);
    using deadline = new Deadline(graceMs, ending);
    while (!job.isOver && !deadline.passed) await job.changed(deadline.signal);
  }
}

function sendTo(terminal: Terminal, signal: NodeJS.Signals): void {
  try {
    terminal.signal(signal);
  } catch {
    // It ended meanwhile, or what has the foreground belongs to another account: the next step may reach it.
  }
}
