/** Saves the images that `npm run images` has built, for machines that build none. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { containerEnvironment, imageNames } from '../containers.mjs';
import { SetupError } from '../setup.mjs';

/**
 * One archive, in which the images share their layers. Its format is docker's, because OCI's has no health check. The
 * images have the names that manifests and the Compose file give them.
 * @returns {string} the path of the archive in the directory
 */
export function saveImages(directory, version) {
  const names = Object.entries(imageNames).map(([name, built]) => {
    const published = `docker.io/boxkeep/${name}:${version}`;
    run('podman', ['tag', `${built}:${version}`, published]);
    return published;
  });
  const archive = join(directory, `boxkeep-${version}-images-linux-${process.arch}.tar`);
  run('podman', ['save', '--multi-image-archive', '--format', 'docker-archive', '--output', archive, ...names]);
  for (const name of names) run('podman', ['untag', name, name]);
  // The usual effort takes three times as long.
  run('gzip', ['-n', '--fast', archive]);
  return `${archive}.gz`;
}

function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { env: containerEnvironment, encoding: 'utf8' });
  if (status !== 0) throw new SetupError(`${program} ${args[0]} failed: ${error?.message ?? stderr}`);
}
