/** Selects the interpreters that a daemon can find: images with only some interpreters and a few tools. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { placeOfGo } from '../../tools/go.mjs';
import { placeOfPython } from '../../tools/python.mjs';
import { repositoryRoot, type Sandbox, type SandboxOptions } from './sandbox.ts';

const pinned = JSON.parse(readFileSync(join(repositoryRoot, 'test/code/nodes.json'), 'utf8')) as Record<string, string>;

/** The directory of each Node, made before the first test, because a download takes longer than a test may. */
export const nodes = Object.entries(pinned).map(([major, version]) => ({
  major: Number(major),
  version,
  directory: join(repositoryRoot, `node_modules/.cache/node-${major}/bin`),
}));

export function needNodes(): void {
  make('tools/nodes.mjs');
}

/** The program of a Node that `needNodes` has installed. */
export function nodeOf(major: number): string {
  const node = nodes.find((one) => one.major === major);
  if (!node) throw new Error(`test/code/nodes.json pins no Node ${major}`);
  return join(node.directory, 'node');
}

/** The environment of a folder of test/, or of a requirements file, for a Python such as 3.9. */
export function needPython(folder: string, version = ''): string {
  make('tools/python.mjs', folder, version);
  return placeOfPython(folder, version);
}

/** The program in Go of a folder of test/. */
export function needGo(folder: string): string {
  make('tools/go.mjs', folder);
  return placeOfGo(folder);
}

/** The clients of test/clients/mcp, and the Node that runs them. Returns the directory with the packages. */
export function needMcpClients(): string {
  needNodes();
  return needPackages('mcp');
}

/** The packages of a folder of test/clients. Returns their directory. */
export function needPackages(name: string): string {
  make('tools/test-packages.mjs', name);
  return join(repositoryRoot, `node_modules/.cache/${name}-clients`);
}

function make(...command: readonly string[]): void {
  const { exitCode } = Bun.spawnSync([process.execPath, ...command], {
    cwd: repositoryRoot,
    stdout: 'inherit',
    stderr: 'inherit',
  });
  if (exitCode !== 0) throw new Error(`these tests need what ${command.join(' ')} makes`);
}

/** The standard program directories, which are on most PATHs. */
const standardDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/sbin', '/bin', '/usr/bin'];
/** In the daemon's separate mount namespace, these directories contain only these tools. */
const tools = ['sh', 'env', 'cat', 'ls', 'sleep', 'mount'];
const hideOthers = `for place in ${standardDirectories.join(' ')}; do
  [ -L "$place" ] || [ ! -d "$place" ] || mount --bind ./bin "$place" || exit
done; exec "$@"`;

/** Options for a daemon in an image with a few tools and the programs of these directories. */
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
        // Directs the files that a kernel keeps for its account to the test's directory.
        IPYTHONDIR: join(sandbox.directory, 'ipython'),
        JUPYTER_DATA_DIR: join(sandbox.directory, 'jupyter'),
        ...env(sandbox),
      };
    },
  };
}

/**
 * The Python of an environment is a link, maybe over several steps, to another Python. That Python may be in a hidden
 * directory, so it is copied.
 */
function keepBase(python: string, bin: string): void {
  if (!existsSync(python)) return;
  for (let path = python; lstatSync(path).isSymbolicLink();) {
    path = resolve(dirname(path), readlinkSync(path));
    if (standardDirectories.includes(dirname(path))) copyFileSync(path, join(bin, basename(path)));
  }
}

/** A Python without packages, independent of the machine's Python. */
export function barePython(sandbox: Sandbox): string {
  const place = join(sandbox.directory, 'python');
  const made = spawnSync('python3', ['-m', 'venv', '--without-pip', place], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`python3 -m venv: ${made.stderr}`);
  return join(place, 'bin');
}
