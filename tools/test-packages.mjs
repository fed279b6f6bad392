/**
 * Installs packages of others that tests drive: `node tools/test-packages.mjs mcp`, `editors`,
 * `generators`, `e2b` or `component-libraries`.
 *
 * The packages are pinned in `package.json` of `test/clients/<name>`, so that `npm install` does not need them. With a
 * lockfile there, what the packages stand on is pinned too.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { runTool, SetupError } from './setup.mjs';

async function provide(name) {
  const folder = join(repositoryRoot, 'test/clients', name);
  const files = ['package.json', 'package-lock.json', '.npmrc'].filter((file) => existsSync(join(folder, file)));
  const wanted = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
  const directory = join(repositoryRoot, `node_modules/.cache/${name}-clients`);
  await makeOnce(directory, wanted, () => {
    console.log(`setup: npm install (test/clients/${name}/package.json, into ${directory})`);
    mkdirSync(directory, { recursive: true });
    for (const file of files) copyFileSync(join(folder, file), join(directory, file));
    // The engines of the packages are met by the Node that runs them, not by the Node that installs them.
    const how = files.includes('package-lock.json') ? ['ci'] : ['install', '--no-package-lock'];
    const args = [...how, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, error } = spawnSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
    if (error) throw new SetupError(`npm could not be started: ${error.message}`);
    if (status !== 0) throw new SetupError('npm install of the packages failed; its own message is above');
  });
}

await runTool(async () => {
  await provide(process.argv[2]);
  return 0;
});
