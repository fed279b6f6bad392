/** Code that a kernel of Python runs unseen before a cell: it leaves no name behind. */
import type { EnvironmentChanges } from '../identity/environment.ts';

export interface Arrangement {
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
}

/** Changes the environment, and then the directory. A string of JSON is one of Python, too. */
export function arrangement({ cwd, env }: Arrangement): string {
  const steps = Object.entries(env).map(([name, value]) =>
    value === null
      ? `os.environ.pop(${JSON.stringify(name)}, None)`
      : `os.environ.__setitem__(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  );
  if (cwd !== null) steps.push(`os.chdir(${JSON.stringify(cwd)})`);
  return `(lambda os: [${steps.join(', ')}])(__import__("os"))`;
}

/** The same for a directory that nobody has asked for: the kernel stays where it is when that one is not there. */
export function beginning(cwd: string, env: EnvironmentChanges): string {
  const enter = '[os.chdir(path) for path in paths if os.access(path, os.X_OK) and os.path.isdir(path)]';
  return `${arrangement({ cwd: null, env })}\n(lambda os, paths: ${enter})(__import__("os"), [${JSON.stringify(cwd)}])`;
}

/** In the words that other interpreters have for it, instead of `[Errno 2] No such file: '/there'`. */
export function whyNotArranged(
  cwd: string | null,
  { ename, evalue }: { readonly ename: string; readonly evalue: string },
): { readonly ename: string; readonly evalue: string } {
  const [, reason] = /^\[Errno \d+\] (.*?)(?:: '.*')?$/s.exec(evalue) ?? [];
  if (reason === undefined || cwd === null) return { ename, evalue };
  return { ename: 'DirectoryError', evalue: `working directory ${cwd}: ${reason}` };
}
