/** Waits for the end of a cell: a normal end, an interrupt, or the death of its interpreter. */
import { Deadline } from '../../../kit/deadline.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { Cell, InterpreterDeath } from './cell.ts';
import type { Interpreter } from '../backends/interpreter.ts';

/** Time between the interrupt of a cell and the forced end of its interpreter. */
const interruptGraceMs = 2000;
/** Time for an interpreter to end by itself, and after that to end after an interrupt. */
const endGraceMs = 3000;
const lastGraceMs = 1000;
/** Time for the keeper to report the end of a killed process. */
const reportWithinMs = 2000;

/** Resolves when the cell is over, when its interpreter has ended, or when the signal aborts. */
export async function untilOver(cell: Cell, interpreter: Interpreter, signal: AbortSignal): Promise<void> {
  using stop = new Deadline(null, signal);
  void cell.finished(stop.signal).then(() => stop[Symbol.dispose]());
  while (!cell.isOver && !interpreter.end && !stop.passed) await interpreter.changed(stop.signal);
  // After a handover, the other daemon enforces the timeout.
  while (!cell.isOver && !interpreter.end && interpreter.ownership.isLeft) await interpreter.changed();
}

/** Waits for the report of a death. A cell sent to the dead interpreter now would be lost. */
export async function untilEnded(interpreter: Interpreter, withinMs = reportWithinMs): Promise<void> {
  using deadline = new Deadline(withinMs);
  while (!interpreter.end && !interpreter.ownership.isLeft && !deadline.passed)
    await interpreter.changed(deadline.signal);
}

/** Interrupts repeatedly, because a signal can be missed when code changes from computing to waiting. */
export async function interruptUntilOver(cell: Cell, interpreter: Interpreter): Promise<void> {
  using grace = new Deadline(interruptGraceMs);
  while (cell.hasBegun && !cell.isOver && !interpreter.end && !grace.passed && !interpreter.ownership.isLeft) {
    await interpreter.interrupt();
    using again = new Deadline(interpreter.interruptAgainMs, grace.signal);
    await untilOver(cell, interpreter, again.signal);
  }
}

/**
 * Ends an interpreter as a program ends: its cell is interrupted, its threads and timers finish, its exit functions are
 * called, and its files are flushed. What still runs after the grace is interrupted, and then killed.
 */
export async function endInOrder(interpreter: Interpreter, isBusy: boolean): Promise<void> {
  try {
    await letEnd(interpreter, isBusy, endGraceMs);
    if (!interpreter.end && !interpreter.ownership.isLeft) {
      await interpreter.interrupt();
      await untilEnded(interpreter, lastGraceMs);
    }
  } finally {
    await interpreter.close();
  }
}

/** The first part of `endInOrder`. */
export async function letEnd(interpreter: Interpreter, isBusy: boolean, graceMs: number): Promise<void> {
  if (isBusy) await (interpreter.endCell?.() ?? interpreter.interrupt());
  await interpreter.leave();
  await untilEnded(interpreter, graceMs);
}

export function deathOf(end: ChildEnd): InterpreterDeath {
  const isSignal = end.kind === 'exited' && end.exitCode === null;
  return {
    cause: 'died',
    signal: isSignal ? end.signal : null,
    oomKilled: end.kind === 'exited' ? end.oomKilled : null,
  };
}

/** How an interpreter ended, without the subject of the sentence. */
export function howEnded(end: ChildEnd): string {
  if (end.kind !== 'exited') return 'was lost';
  const how = end.exitCode === null ? `was killed by signal ${end.signal}` : `ended with exit code ${end.exitCode}`;
  return end.oomKilled === true ? `${how} because the memory was used up` : how;
}
