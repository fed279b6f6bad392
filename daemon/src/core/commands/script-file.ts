/** Lets a shell read a script from a file when the script is too long for an argument. */
import type { Child } from '../../platform/process/spawn.ts';
import type { ScriptDirectory } from '../../platform/stores/script-directory.ts';
import { quote } from '../../kit/text/shell-word.ts';

/** The limit on Linux is 128 KiB, including the terminating zero byte (MAX_ARG_STRLEN in execve(2)). */
const maxArgumentBytes = 128 * 1024 - 1;

export function isTooLongForArgument(script: string): boolean {
  return Buffer.byteLength(script) > maxArgumentBytes;
}

/** A script that reads the given script file in the same shell. */
export function readingScript(path: string): string {
  return `. ${quote(path)}`;
}

/** A shell may read a script piece by piece, so the file stays until the command has ended. */
export async function removeAtEnd(child: Child, path: string, files: ScriptDirectory): Promise<void> {
  while (!child.end) await child.changed();
  files.remove(path);
}
