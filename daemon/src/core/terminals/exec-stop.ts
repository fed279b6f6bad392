/** Ends a command that has run for too long: what has the foreground is asked, then told, then killed. */
import { Deadline } from '../../kit/deadline.ts';
import type { Execution } from './exec.ts';
import type { Terminal } from './terminal.ts';

/** A command of several programs is asked program by program. */
const steps: readonly { readonly signal: NodeJS.Signals; readonly graceMs: number }[] = [
  { signal: 'SIGINT', graceMs: 1000 },
  { signal: 'SIGTERM', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 1000 },
  { signal: 'SIGKILL', graceMs: 5000 },
];

export async function stopForeground(terminal: Terminal, execution: Execution, ending: AbortSignal): Promise<void> {
  execution.isStopped = true;
  for (const { signal, graceMs } of steps) {
    if (execution.end || ending.aborted) return;
    sendTo(terminal, signal);
    using deadline = new Deadline(graceMs, ending);
    while (!execution.end && !deadline.passed) await execution.changed(deadline.signal);
  }
}

function sendTo(terminal: Terminal, signal: NodeJS.Signals): void {
  try {
    terminal.signal(signal);
  } catch {
    // It ended meanwhile, or what has the foreground belongs to another account: the next step may reach it.
  }
}
