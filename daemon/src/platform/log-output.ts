/** Where log lines go: a reader that stalls costs lines past a bound, and one that has gone costs nothing else. */
import type { Writable } from 'node:stream';

/** Lines that wait for the reader; past it they are counted and dropped. */
const maxWaitingBytes = 1024 * 1024;

export function logOutput(stream: Writable): (line: string) => void {
  let isGone = false;
  let dropped = 0;
  stream.on('error', () => {
    isGone = true; // Nobody reads the log any more; the daemon serves all the same.
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
  const message = 'log lines were dropped, because nobody read them';
  return `${JSON.stringify({ at: new Date().toISOString(), level: 'warn', message, lines })}\n`;
}
