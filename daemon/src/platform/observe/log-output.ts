/** Writes log lines without blocking: a stalled reader costs lines past a bound, a closed reader costs nothing. */
import type { Writable } from 'node:stream';

/** Bytes that may wait for the reader; further lines are counted and dropped. */
const maxWaitingBytes = 1024 * 1024;

export function logOutput(stream: Writable): (line: string) => void {
  let isGone = false;
  let dropped = 0;
  stream.on('error', () => {
    isGone = true; // No process reads the log any more; the daemon serves all the same.
  });
  return (line) => {
    if (isGone) return;
    if (stream.writableLength > maxWaitingBytes) {
      dropped += 1;
      return;
    }
    if (dropped > 0) stream.write(droppedLine(dropped));
    dropped = 0;
    stream.write(line);
  };
}

function droppedLine(lines: number): string {
  const message = 'log lines were dropped, because no reader kept up';
  return `${JSON.stringify({ at: new Date().toISOString(), level: 'warn', message, lines })}\n`;
}
