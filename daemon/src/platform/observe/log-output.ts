/** Writes log lines without blocking: a stalled reader costs lines past a bound, a closed reader costs nothing. */

/** Bytes that may wait for the reader; further lines are counted and dropped. */
const maxWaitingBytes = 1024 * 1024;

/** `process.stdout` does the same, and its streams take a tenth of a start. */
export function logOutput(descriptor: number): (line: string) => void {
  const sink = Bun.file(descriptor).writer();
  let waitingBytes = 0;
  let dropped = 0;
  let isGone = false;
  const lose = () => {
    isGone = true; // No process reads the log any more; the daemon serves all the same.
  };
  const taken = () => {
    waitingBytes = 0;
  };
  const write = (text: string) => {
    waitingBytes += Buffer.byteLength(text);
    const written = sink.write(text);
    const flushed = sink.flush();
    if (typeof written === 'number' && typeof flushed === 'number') taken();
    else void Promise.all([written, flushed]).then(taken, lose); // Both reject when the reader goes.
  };
  return (line) => {
    if (isGone) return;
    if (waitingBytes > maxWaitingBytes) {
      dropped += 1;
      return;
    }
    try {
      if (dropped > 0) write(droppedLine(dropped));
      dropped = 0;
      write(line);
    } catch {
      lose(); // A pipe without a reader is refused at once.
    }
  };
}

function droppedLine(lines: number): string {
  const message = 'log lines were dropped, because no reader kept up';
  return `${JSON.stringify({ at: new Date().toISOString(), level: 'warn', message, lines })}\n`;
}
