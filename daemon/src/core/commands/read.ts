/** Reads the output of a command past some offsets, and waits for it where there is none yet. */
import { Deadline } from '../../kit/deadline.ts';
import type { Command } from './command.ts';
import { readPart, type Offsets, type StreamPart } from './output.ts';
import { readLogs } from './refusal.ts';

export interface ReadRequest {
  readonly offsets: Offsets;
  readonly limitBytes: number;
  /** How long to wait for something new; 0 answers at once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface ReadResult {
  readonly stdout: StreamPart;
  readonly stderr: StreamPart;
}

/** Of each stream, whatever a caller asks for: an answer is in memory whole, and may be six times as long in JSON. */
const mostAnswerBytes = 8 * 1024 * 1024;

/** What lies past the offsets, at once or as soon as there is something, the command ends, or the wait is over. */
export async function readOn(command: Command, request: ReadRequest): Promise<ReadResult> {
  using deadline = new Deadline(request.waitMs, request.signal);
  readLogs(command.id, () => command.child.refresh());
  const [out, err] = command.child.ends;
  // An offset past the end is the end as it is now: what comes after it is news.
  const offsets = { stdout: Math.min(request.offsets.stdout, out), stderr: Math.min(request.offsets.stderr, err) };
  const limitBytes = Math.min(request.limitBytes, mostAnswerBytes);
  for (;;) {
    const isOver = !command.isRunning;
    const known = command.child.ends;
    const result = readLogs(command.id, () => ({
      stdout: readPart(command.child, 'stdout', offsets.stdout, limitBytes),
      stderr: readPart(command.child, 'stderr', offsets.stderr, limitBytes),
    }));
    const isNews = hasNews(result.stdout, offsets.stdout) || hasNews(result.stderr, offsets.stderr);
    if (isNews || isOver || deadline.passed) return result;
    // Reading looks at the logs: what came to stdout while stderr was read is known now, and nobody would tell of it.
    if (hasGrown(known, command.child.ends)) continue;
    command.child.watch();
    await command.child.changed(deadline.signal);
  }
}

function hasGrown(before: readonly [number, number], now: readonly [number, number]): boolean {
  return now[0] > before[0] || now[1] > before[1];
}

function hasNews(part: StreamPart, offset: number): boolean {
  return part.next > offset || part.gaps.length > 0;
}
