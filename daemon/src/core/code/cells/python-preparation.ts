/** Builds Python code that a kernel runs unseen before a cell. The code leaves no names behind. */
import type { EnvironmentChanges } from '../../processes/environment.ts';
import type { CellRequest, Reason } from './cell.ts';

/** Why a cell is refused before it runs. */
export interface CellRefusal extends Reason {
  readonly cwdError?: string;
}

/**
 * Sets the environment, then the directory, then the variables of the next cell, with a program that defines `lend`.
 * A JSON string is also a valid Python string.
 */
export function arrangement(
  { cwd, env, cellEnv = {} }: Pick<CellRequest, 'cwd' | 'env' | 'cellEnv'>,
  lendProgram = '',
): string {
  const steps = Object.entries(env).map(([name, value]) =>
    value === null
      ? `os.environ.pop(${JSON.stringify(name)}, None)`
      : `os.environ.__setitem__(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  );
  if (cwd !== null) steps.push(`os.chdir(${JSON.stringify(cwd)})`);
  if (Object.keys(cellEnv).length > 0) {
    const call = `lend(__import__("json").loads(${JSON.stringify(JSON.stringify(cellEnv))}))`;
    steps.push(`exec(${JSON.stringify(`${lendProgram}\n${call}`)}, {})`);
  }
  return `(lambda os: [${steps.join(', ')}])(__import__("os"))`;
}

/** Adds the media types of a program. */
export function installation(formats: string): string {
  return `exec(${JSON.stringify(`${formats}\ninstall()`)}, {})`;
}

/** The same for a default directory. If the directory does not exist, the kernel stays in its current directory. */
export function beginning(cwd: string, env: EnvironmentChanges): string {
  const enter = '[os.chdir(path) for path in paths if os.access(path, os.X_OK) and os.path.isdir(path)]';
  return `${arrangement({ cwd: null, env })}\n(lambda os, paths: ${enter})(__import__("os"), [${JSON.stringify(cwd)}])`;
}

/** Uses the wording of the other interpreters instead of `[Errno 2] No such file: '/there'`. */
export function whyNotArranged(cwd: string | null, { ename, evalue }: Reason): CellRefusal {
  const [, reason] = /^\[Errno \d+\] (.*?)(?:: '.*')?$/s.exec(evalue) ?? [];
  if (reason === undefined || cwd === null) return { ename, evalue };
  return { ename: 'DirectoryError', evalue: `working directory ${cwd}: ${reason}`, cwdError: reason };
}
