/** Writes the output of a command to local standard output and standard error, byte for byte. */
import type { Output } from './follow.ts';
import { say, standardError, standardOutput, writeAll } from './standard-streams.ts';

/** Resolves when the output is written, so that a slow local reader slows the reading from the daemon. */
export async function writeOutput(output: Output): Promise<void> {
  if (output.kind === 'bytes') {
    await writeAll(output.stream === 'stdout' ? standardOutput : standardError, output.bytes);
  }
  if (output.kind === 'gap') {
    const { stream, from, to } = output;
    await say(`${to - from} bytes of ${stream} are missing here, ${from} to ${to}: they are no longer kept`);
  }
}
