/** Runs a Python probe for `boxkeep doctor`, which has no keeper to run it. */

export interface PythonAnswer {
  /** The real interpreter, not the shim of a version manager. */
  readonly executable: string;
  /** The packages that kernels need, with their versions. */
  readonly packages: Readonly<Record<string, string>>;
}

const withinMs = 10_000;

/** `argv` is the probe for kernels. Null when Python cannot run, or prints something else. */
export function askPython([program = '', ...args]: readonly string[]): PythonAnswer | null {
  const { status, stdout } = process.getBuiltinModule('node:child_process').spawnSync(program, args, {
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: withinMs,
  });
  if (status !== 0) return null;
  try {
    return JSON.parse(stdout) as PythonAnswer;
  } catch {
    return null; // The program is not Python.
  }
}
