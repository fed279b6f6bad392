/** Turns a script and the name of a shell into the program and the arguments to run. */
import { CoreError } from '../../kit/errors.ts';
import { quote } from '../../kit/text/shell-word.ts';

export const shellNames = ['auto', 'bash', 'sh', 'none', 'powershell', 'cmd'] as const;
export type ShellName = (typeof shellNames)[number];

/** Looks up a program in a PATH now; null if it is not there. */
export type FindProgram = (name: string, path: string) => string | null;

export interface ShellRequest {
  readonly shell: ShellName;
  readonly command: string;
  readonly args: readonly string[];
  /** A script that the shell runs before the command, in the same process; null means none. */
  readonly startupFile: string | null;
}

/** Returns the argv of a request. `path` is the image's PATH, so that a caller's own PATH cannot hide the shell. */
export function shellArguments(request: ShellRequest, path: string, findProgram: FindProgram): string[] {
  if (request.shell === 'none') return [request.command, ...request.args];
  if (request.args.length > 0) {
    throw new CoreError('bad_argument', 'args is only for shell "none"', {
      hint: 'Set shell to "none" to run a program with arguments, or put the arguments into the command.',
    });
  }
  return [findShell(request.shell, path, findProgram), '-c', scriptOf(request)];
}

/** Uses two lines, because an alias takes effect only from the next line on. */
function scriptOf({ command, startupFile }: ShellRequest): string {
  return startupFile === null ? command : `. ${quote(startupFile)}\n${command}`;
}

function findShell(shell: Exclude<ShellName, 'none'>, path: string, findProgram: FindProgram): string {
  const candidates = shell === 'auto' ? ['bash', 'sh'] : [shell];
  for (const name of candidates) {
    const program = shell === 'powershell' || shell === 'cmd' ? null : findProgram(name, path);
    if (program !== null) return program;
  }
  throw new CoreError('unavailable', `no ${candidates.join(' or ')} on PATH`, {
    isRetryable: false,
    hint: 'Install a shell in the image.',
    next: { operation: 'commands.startWithoutShell' },
  });
}
