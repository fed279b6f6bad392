/** Writes the output of a command to our own standard output and standard error, each byte as it was. */
import type { Output } from './follow.ts';
import { say, standardError, standardOutput, writeAll } from './standard-streams.ts';

/** Resolves when it is written: whoever reads slowly slows the reading from the daemon. */
export async function tell(output: Output): Promise<void> {
  if (output.kind === 'bytes') {
    await writeAll(output.stream === 'stdout' ? standardOutput : standardError, output.bytes);
  }
  if (output.kind === 'gap') {
    const { stream, from, to } = output;
    await say(`${to - from} bytes of ${stream} are missing here, ${from} to ${to}: they are no longer kept`);
  }
}
