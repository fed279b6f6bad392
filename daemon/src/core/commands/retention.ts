/** Which ended commands are no longer kept: those that are too old, too many or too large together. */
import type { Command } from './command.ts';

export const keptEnded = 512;
const keptMs = 3600 * 1000;

/** The oldest ends go first; one that is too large for itself goes without taking others with it. */
export function retired(ended: readonly Command[], nowMs: number, maxBytes: number): Command[] {
  const newestFirst = ended.toSorted((a, b) => endedMs(b) - endedMs(a));
  const dropped: Command[] = [];
  let bytes = 0;
  newestFirst.forEach((command, index) => {
    const { keptBytes } = command.child;
    const isKept = index < keptEnded && endedMs(command) >= nowMs - keptMs && bytes + keptBytes <= maxBytes;
    if (isKept) bytes += keptBytes;
    else dropped.push(command);
  });
  return dropped;
}

function endedMs(command: Command): number {
  return command.state.endedMs ?? 0;
}
