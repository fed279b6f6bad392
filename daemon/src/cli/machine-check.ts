/** Checks of the machine itself: what the daemon reads, and the programs that its planes look for. */
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail, ok, warn, type Finding } from './finding.ts';

export interface MachineView {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The first executable of that name on PATH. */
  readonly find: (program: string) => string | null;
}

const purposes = {
  tmux: 'terminals use it where it is there, and work without it',
  rg: 'searches use it where it is there, and work without it, slower',
  python3: 'Python code and the list of its packages need it',
  node: 'JavaScript code and the list of its packages need it',
  ffmpeg: 'recordings need it',
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

/** Nothing is run: the package is looked for where the interpreter keeps packages. */
function examineIpykernel({ find, environment }: MachineView): Finding {
  const advice = 'Install it if kernels are wanted: python3 -m pip install ipykernel.';
  const python = find('python3');
  if (python === null) return warn('ipykernel', 'there is no Python', advice);
  const own = `${environment['HOME'] ?? '/root'}/.local`;
  const folders = [dirname(dirname(realpathSync(python))), '/usr', '/usr/local', own].flatMap(packageFolders);
  const found = folders.find((folder) => isReadable(`${folder}/ipykernel`));
  return found === undefined ? warn('ipykernel', `was not found beside ${python}`, advice) : ok('ipykernel', found);
}

function packageFolders(prefix: string): string[] {
  if (!existsSync(`${prefix}/lib`)) return [];
  const versions = readdirSync(`${prefix}/lib`).filter((name) => name.startsWith('python3'));
  return versions.flatMap((name) => ['site-packages', 'dist-packages'].map((kind) => `${prefix}/lib/${name}/${kind}`));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // Absent or closed to us: the same answer.
  }
}
