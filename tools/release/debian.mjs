/** Unpacks Debian packages of any architecture into a folder, without installing them or changing apt's state. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { again, SetupError } from '../setup.mjs';

const architectures = { x64: 'amd64', arm64: 'arm64' };

/**
 * @param {{architecture?: 'amd64' | 'arm64', packages: string[], folder: string}} wanted that of this machine if absent
 * @returns {string} the folder, with the packages unpacked into `root` in it; unpacked once
 */
export function unpackDebian({ architecture = architectures[process.arch], packages, folder }) {
  if (!architecture) throw new SetupError(`Debian has no packages for ${process.arch}`);
  const root = join(folder, 'root');
  const stamp = join(folder, packages.join('+'));
  if (existsSync(stamp)) return root;
  for (const tool of ['apt-get', 'dpkg-deb']) {
    if (spawnSync(tool, ['--version'], { stdio: 'ignore' }).status !== 0)
      throw new SetupError(`needs ${tool}: this is done on Debian or Ubuntu`);
  }
  console.log(`setup: apt-get downloads ${packages.map((name) => `${name}:${architecture}`).join(', ')}`);
  const draft = `${folder}.${process.pid}`;
  try {
    download(draft, architecture, packages);
    for (const name of readdirSync(draft).filter((file) => file.endsWith('.deb'))) {
      if (!succeeds('dpkg-deb', ['-x', name, 'root'], draft)) throw new SetupError(`${name} cannot be unpacked`);
      rmSync(join(draft, name));
    }
    rmSync(join(draft, 'apt'), { recursive: true });
    writeFileSync(join(draft, packages.join('+')), '');
    if (existsSync(stamp)) return root; // Another process was faster.
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return root;
}

/** Uses separate lists and caches, so that the machine need not have the architecture enabled. */
function download(folder, architecture, packages) {
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State::Lists': join(folder, 'apt/lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'apt/cache'),
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  mkdirSync(join(folder, 'apt/lists/partial'), { recursive: true });
  mkdirSync(join(folder, 'apt/cache/archives/partial'), { recursive: true });
  const names = packages.map((name) => `${name}:${architecture}`);
  for (const args of [['update'], ['download', ...names]]) {
    if (!again(() => succeeds('apt-get', [...settings, '-qq', ...args], folder)))
      throw new SetupError(`apt-get ${args.join(' ')} failed; its own message is above`);
  }
}

function succeeds(program, args, folder) {
  return spawnSync(program, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
