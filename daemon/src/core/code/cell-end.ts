/** How the run of a cell comes to its end: by itself, by an interrupt, or with its interpreter. */
import { Deadline } from '../../kit/deadline.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { Cell, InterpreterDeath } from './cell.ts';
import type { Interpreter } from './interpreter.ts';

/** Between the interrupt of a cell and the end of its interpreter. */
const interruptGraceMs = 2000;

/** Resolves when the cell is over, its interpreter has ended, or the signal says so. */
export async function untilOver(cell: Cell, interpreter: Interpreter, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const leave = () => stop.abort(null);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  void cell.finished(stop.signal).then(leave);
  while (!cell.isOver && !interpreter.end && !stop.signal.aborted) await interpreter.changed(stop.signal);
  // Another daemon owns it: it sees to the time.
  while (!cell.isOver && !interpreter.end && interpreter.isLetGo) await interpreter.changed();
  signal.removeEventListener('abort', leave);
  leave();
}

/** Again and again: a signal that comes as code goes from computing to waiting can be missed. */
export async function interruptUntilOver(cell: Cell, interpreter: Interpreter): Promise<void> {
  using grace = new Deadline(interruptGraceMs);
  while (cell.hasBegun && !cell.isOver && !interpreter.end && !grace.passed && !interpreter.isLetGo) {
    await interpreter.interrupt();
    using again = new Deadline(interpreter.interruptAgainMs, grace.signal);
    await untilOver(cell, interpreter, again.signal);
  }
}

export function deathOf(end: ChildEnd): InterpreterDeath {
  const isSignal = end.kind === 'exited' && end.exitCode === null;
  return { signal: isSignal ? end.signal : null, oomKilled: end.kind === 'exited' ? end.oomKilled : null };
}

export function describeEnd(end: ChildEnd): string {
  if (end.kind !== 'exited') return 'the interpreter was lost';
  const how = end.exitCode === null ? `was killed by signal ${end.signal}` : `ended with exit code ${end.exitCode}`;
  const why = end.oomKilled === true ? ' because the memory was used up' : '';
  return `the interpreter ${how}${why}`;
}
