/** Writes the output of a command to local standard output and standard error, byte for byte. */
import type { OutputEvent } from '../../../../clients/typescript/src/index.ts';
import { say, standardError, standardOutput, writeAll } from './standard-streams.ts';

/** Resolves when the output is written, so that a slow local reader slows the reading from the daemon. */
export async function writeOutput(output: OutputEvent): Promise<void> {
  if (output.type === 'stdout') await writeAll(standardOutput, output.bytes);
  if (output.type === 'stderr') await writeAll(standardError, output.bytes);
  if (output.type === 'gap') {
    const { stream, from, to } = output;
    await say(`${to - from} bytes of ${stream} are missing here, ${from} to ${to}: they are no longer kept`);
  }
}
