/** The interpreters that an image may have, alone, beside a few tools. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { repositoryRoot, type Sandbox, type SandboxOptions } from './sandbox.ts';

const pinned = JSON.parse(readFileSync(join(repositoryRoot, 'test/code/nodes.json'), 'utf8')) as Record<string, string>;

/** Of each the directory of its program, made before the first test, because a download takes longer than one may. */
export const nodes = Object.entries(pinned).map(([major, version]) => ({
  major: Number(major),
  version,
  directory: join(repositoryRoot, `node_modules/.cache/node-${major}/bin`),
}));

export function needNodes(): void {
  make('tools/nodes.mjs');
}

/** The Python environment of a folder of test/, with what its requirements name. */
export function needPython(folder: string): string {
  make('tools/python.mjs', folder);
  return join(repositoryRoot, `node_modules/.cache/python-${folder.replaceAll('/', '-')}`);
}

function make(...command: readonly string[]): void {
  const { exitCode } = Bun.spawnSync([process.execPath, ...command], {
    cwd: repositoryRoot,
    stdout: 'inherit',
    stderr: 'inherit',
  });
  if (exitCode !== 0) throw new Error(`these tests need what ${command.join(' ')} makes`);
}

/** Where programs are looked for on any PATH. */
const standardDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/sbin', '/bin', '/usr/bin'];
/** In a mount namespace of its own the daemon has these few tools there, and nothing else that the machine has. */
const tools = ['sh', 'env', 'cat', 'ls', 'sleep', 'mount'];
const hideOthers = `for place in ${standardDirectories.join(' ')}; do
  [ -L "$place" ] || [ ! -d "$place" ] || mount --bind ./bin "$place" || exit
done; exec "$@"`;

/** Options for a daemon in an image that has a few tools, and what these directories have. */
export function imageWith(
  directories: (sandbox: Sandbox) => readonly string[],
  env: (sandbox: Sandbox) => Record<string, string> = () => ({}),
): SandboxOptions {
  return {
    launcher: ['unshare', '--mount', 'sh', '-c', hideOthers, 'sh'],
    prepare: (sandbox) => {
      const bin = join(sandbox.directory, 'bin');
      mkdirSync(bin);
      for (const tool of tools) copyFileSync(Bun.which(tool) ?? `no ${tool} here`, join(bin, tool));
    },
    env: (sandbox) => {
      const all = directories(sandbox);
      for (const directory of all) keepBase(join(directory, 'python3'), join(sandbox.directory, 'bin'));
      return {
        PATH: [...all, '/usr/bin'].join(':'),
        // What a kernel keeps for its account is kept in the directory of the test.
        IPYTHONDIR: join(sandbox.directory, 'ipython'),
        JUPYTER_DATA_DIR: join(sandbox.directory, 'jupyter'),
        ...env(sandbox),
      };
    },
  };
}

/** The Python of an environment is a link to another one, over several perhaps, which may lie where all is hidden. */
function keepBase(python: string, bin: string): void {
  if (!existsSync(python)) return;
  for (let path = python; lstatSync(path).isSymbolicLink();) {
    path = resolve(dirname(path), readlinkSync(path));
    if (standardDirectories.includes(dirname(path))) copyFileSync(path, join(bin, basename(path)));
  }
}

/** A Python without any package, whatever that of this machine has. */
export function barePython(sandbox: Sandbox): string {
  const place = join(sandbox.directory, 'python');
  const made = spawnSync('python3', ['-m', 'venv', '--without-pip', place], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`python3 -m venv: ${made.stderr}`);
  return join(place, 'bin');
}
