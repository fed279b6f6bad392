/** Checks the machine: the files that the daemon reads, and the programs that its planes use. */
import { accessSync, constants } from 'node:fs';
import type { Environment } from '../../kit/types/environment.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

export interface MachineView {
  readonly environment: Environment;
  /** The first executable of that name on PATH. */
  readonly find: (program: string) => string | null;
  /** The interpreter's own report; null when it cannot run. */
  readonly askPython: (
    path: string,
  ) => { readonly executable: string; readonly packages: Readonly<Record<string, string>> } | null;
}

const purposes = {
  tmux: 'terminals use it with SVC_SHELL_BACKEND=tmux, and work without it',
  python3: 'Python code and the list of its packages need it',
  node: 'JavaScript code and the list of its packages need it',
  ffmpeg: 'only recordings of a desktop need it',
} as const;

export function examineMachine(view: MachineView): Finding[] {
  return [
    isReadable('/proc/self/stat')
      ? ok('proc', '/proc is mounted')
      : fail('proc', '/proc is not mounted', 'Mount it: the daemon and its keepers read it.'),
    isReadable('/etc/passwd')
      ? ok('accounts', '/etc/passwd can be read')
      : warn('accounts', '/etc/passwd cannot be read', 'Name accounts by their uid.'),
    examineShell(view),
    ...Object.entries(purposes).map(([program, purpose]) => examineTool(view, program, purpose)),
    examineIpykernel(view),
  ];
}

function examineShell({ find }: MachineView): Finding {
  const shells = ['bash', 'sh'].map(find).filter((path) => path !== null);
  if (shells.length > 0) return ok('shell', shells.join(', '));
  return warn('shell', 'no bash and no sh is on PATH', 'Install one: without it only programs with shell "none" run.');
}

function examineTool({ find }: MachineView, program: string, purpose: string): Finding {
  const path = find(program);
  return path === null ? warn(program, 'is not on PATH', `Install it if it is wanted: ${purpose}.`) : ok(program, path);
}

/** Asks Python itself for its packages, because `python3` may be the shim of a version manager. */
function examineIpykernel({ askPython, find }: MachineView): Finding {
  const check = 'ipykernel';
  const advice = 'Install it if kernels are wanted: python3 -m pip install ipykernel.';
  const path = find('python3');
  if (path === null) return warn(check, 'there is no Python', advice);
  const python = askPython(path);
  if (python === null) return warn(check, `${path} cannot be run`, 'Run it by hand to see what it lacks.');
  const version = python.packages[check];
  if (version === undefined) return warn(check, `is not installed for ${python.executable}`, advice);
  return ok(check, `${version} is installed for ${python.executable}`);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // Absent and unreadable count the same.
  }
}
