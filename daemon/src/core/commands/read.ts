/** Reads the output of a command past given offsets, and waits if there is none yet. */
import { Deadline } from '../../kit/deadline.ts';
import type { Command } from './command.ts';
import { readPart, type Offsets, type OutputPart } from './output.ts';
import { readLogs } from './refusal.ts';

export interface ReadRequest {
  readonly offsets: Offsets;
  readonly limitBytes: number;
  /** How long to wait for new output; 0 returns at once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface ReadResult {
  readonly stdout: OutputPart;
  readonly stderr: OutputPart;
}

/** Limit per stream, whatever the caller requests: clients hold an answer in memory whole. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** Returns the output past the offsets as soon as there is output, the command ends, or the wait is over. */
export async function readOn(command: Command, request: ReadRequest): Promise<ReadResult> {
  using deadline = new Deadline(request.waitMs, request.signal);
  readLogs(command.id, () => command.child.refresh());
  const [out, err] = command.child.ends;
  // An offset past the end means the current end. Anything that follows counts as new output.
  const offsets = { stdout: Math.min(request.offsets.stdout, out), stderr: Math.min(request.offsets.stderr, err) };
  const limitBytes = Math.min(request.limitBytes, maxAnswerBytes);
  for (;;) {
    const isOver = !command.isRunning;
    const known = command.child.ends;
    const result = readLogs(command.id, () => ({
      stdout: readPart(command.child, 'stdout', offsets.stdout, limitBytes),
      stderr: readPart(command.child, 'stderr', offsets.stderr, limitBytes),
    }));
    const isNews = hasNews(result.stdout, offsets.stdout) || hasNews(result.stderr, offsets.stderr);
    if (isNews || isOver || deadline.passed) return result;
    // The read refreshes the known ends. Output that reached stdout while stderr was read is known now, so no change
    // event will report it.
    if (hasGrown(known, command.child.ends)) continue;
    command.child.watch();
    await command.child.changed(deadline.signal);
  }
}

function hasGrown(before: readonly [number, number], now: readonly [number, number]): boolean {
  return now[0] > before[0] || now[1] > before[1];
}

function hasNews(part: OutputPart, offset: number): boolean {
  return part.next > offset || part.gaps.length > 0;
}
