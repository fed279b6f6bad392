/**
 * `npm run release`: makes dist/release, from which a stranger installs boxkeep. Needs what both builds need.
 *
 * `npm run release -- --images` also builds the images, and needs what `npm run images` needs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';
import { runTool, SetupError } from '../setup.mjs';

const directory = join(repositoryRoot, 'dist/release');

await runTool(() => {
  const options = process.argv.slice(2);
  if (options.some((option) => option !== '--images')) throw new SetupError('a release takes --images, or nothing');
  // The files name their commit.
  const changes = run('git', ['status', '--porcelain'], 'pipe');
  if (changes !== '') throw new SetupError(`a release has no changes that are not committed:\n${changes}`);
  for (const args of [[], ['--arch', 'arm64']]) run('node', ['tools/build.mjs', ...args]);
  run('node', ['tools/site.mjs']);
  if (options.length > 0) run('node', ['tools/images.mjs']);
  rmSync(directory, { recursive: true, force: true });
  run('node', ['tools/release/assemble.mjs', directory, ...options]);
  process.stdout.write(readFileSync(join(directory, 'SHA256SUMS')));
  return 0;
});

function run(command, args, output = 'inherit') {
  const stdio = ['ignore', output, 'inherit'];
  const { status, stdout, error } = spawnSync(command, args, { cwd: repositoryRoot, stdio, encoding: 'utf8' });
  if (status !== 0) throw new SetupError(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
  return stdout ?? '';
}
