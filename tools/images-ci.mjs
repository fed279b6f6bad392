/**
 * The stage of `.ci/run` for the images: `node tools/images-ci.mjs SECONDS`, the seconds that are left.
 *
 * All tests run when the ingredients of the images have changed since all tests passed, and the time is enough.
 * Otherwise one test runs.
 */
import { spawnSync } from 'node:child_process';
import { containerEnvironment, imageNames } from './containers.mjs';
import { LastPass } from './last-pass.mjs';
import { repositoryRoot } from './repository.mjs';
import { isOnPath } from './setup.mjs';

/** What the images are made of, and what judges them. */
const ingredients = [
  ...['images', 'native', 'tools/build.mjs', 'tools/release', 'tools/images.mjs', 'tools/containers.mjs'],
  ...['test/images', 'test/harness/container.ts', 'package-lock.json'],
];
/** Seconds, estimated for two cores: a build without layers, all tests, and one test. */
const needed = { build: 360, tests: 400, smoke: 60 };

const lastPass = new LastPass('tested', ingredients);

const secondsLeft = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
process.exitCode = judge();

function judge() {
  const build = hasImages() ? 0 : needed.build;
  if (lastPass.isOld() && build + needed.tests <= secondsLeft) return testAll();
  if (build + needed.smoke <= secondsLeft) return images('smoke');
  console.log(`images: ${secondsLeft} s are too few to build them; test/conformance/gateway.test.ts has run`);
  return 0;
}

function testAll() {
  const status = images('test');
  if (status === 0) lastPass.note();
  return status;
}

/** With the layers of an earlier build, another one takes seconds. */
function hasImages() {
  const args = ['image', 'exists', imageNames.computer];
  return isOnPath('podman') && spawnSync('podman', args, { env: containerEnvironment, stdio: 'ignore' }).status === 0;
}

function images(what) {
  const { status } = spawnSync(process.execPath, ['tools/images.mjs', what], { cwd: repositoryRoot, stdio: 'inherit' });
  return status ?? 1;
}
