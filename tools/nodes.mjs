/**
 * Installs the Node versions that tests of JavaScript cells use: `node tools/nodes.mjs`.
 *
 * The versions are pinned in `test/code/nodes.json`. Each is an npm package that contains only the program.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { runTool, SetupError } from './setup.mjs';

const pinned = JSON.parse(readFileSync(join(repositoryRoot, 'test/code/nodes.json'), 'utf8'));

/** Puts each program into the `bin` of a separate directory. */
export async function provideNodes() {
  for (const [major, version] of Object.entries(pinned)) await provide(major, version);
}

async function provide(major, version) {
  const name = `node-linux-${process.arch}@${version}`;
  const directory = join(repositoryRoot, `node_modules/.cache/node-${major}`);
  await makeOnce(directory, name, () => {
    console.log(`setup: npm install ${name} (into ${directory})`);
    const prefix = join(directory, 'package');
    mkdirSync(prefix, { recursive: true });
    install(prefix, name);
    mkdirSync(join(directory, 'bin'));
    renameSync(join(prefix, `node_modules/node-linux-${process.arch}/bin/node`), join(directory, 'bin/node'));
    rmSync(prefix, { recursive: true });
  });
}

function install(prefix, name) {
  const args = [
    'install',
    '--prefix',
    prefix,
    '--ignore-scripts',
    '--no-save',
    '--no-package-lock',
    '--loglevel=error',
  ];
  const { status, error } = spawnSync('npm', [...args, name], {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (error) throw new SetupError(`npm could not be started: ${error.message}`);
  if (status !== 0) throw new SetupError(`npm install ${name} failed; its own message is above`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await provideNodes();
    return 0;
  });
}
