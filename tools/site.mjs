/** `npm run site`: makes `dist/site`, a page of each document. Its packages are apart, in `site/`. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { runTool, SetupError } from './setup.mjs';

const folder = join(repositoryRoot, 'site');
const modules = join(folder, 'node_modules');

function run(program, args, what) {
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) throw new SetupError(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new SetupError(`${what} failed; its own message is above`);
}

await runTool(async () => {
  await makeOnce(modules, readFileSync(join(folder, 'package-lock.json'), 'utf8'), () => {
    console.log('setup: npm ci (site/package-lock.json)');
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], 'npm ci');
  });
  rmSync(join(repositoryRoot, 'dist/site'), { recursive: true, force: true });
  run(process.execPath, [join(modules, '@11ty/eleventy/cmd.cjs'), '--quiet'], 'the build of the site');
  console.log('dist/site/index.html is made');
  return 0;
});
