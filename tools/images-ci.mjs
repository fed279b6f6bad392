/**
 * The stage of `.ci/run` for the images: `node tools/images-ci.mjs SECONDS`, the seconds that are left.
 *
 * All tests run when the ingredients of the images have changed since all tests passed, and the time is enough.
 * Otherwise one test runs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerEnvironment, imageNames, imageStore } from './containers.mjs';
import { repositoryRoot } from './repository.mjs';
import { isOnPath } from './setup.mjs';

/** What the images are made of, and what judges them. */
const ingredients = [
  ...['images', 'native', 'tools/build.mjs', 'tools/release', 'tools/images.mjs', 'tools/containers.mjs'],
  ...['test/images', 'test/harness/container.ts', 'package-lock.json'],
];
/** Seconds, estimated for two cores: a build without layers, all tests, and one test. */
const needed = { build: 360, tests: 300, smoke: 60 };

/** Holds the commit whose images passed all tests. */
const testedFile = join(imageStore, 'tested');

const secondsLeft = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
process.exitCode = judge();

function judge() {
  const build = hasImages() ? 0 : needed.build;
  if (isChanged() && build + needed.tests <= secondsLeft) return testAll();
  if (build + needed.smoke <= secondsLeft) return images('smoke');
  console.log(`images: ${secondsLeft} s are too few to build them; test/conformance/gateway.test.ts has run`);
  return 0;
}

/** A commit that this clone does not have counts as changed. */
function isChanged() {
  if (!existsSync(testedFile)) return true;
  const args = ['diff', '--quiet', readFileSync(testedFile, 'utf8').trim(), 'HEAD', '--', ...ingredients];
  return spawnSync('git', args, { cwd: repositoryRoot, stdio: 'ignore' }).status !== 0;
}

function testAll() {
  const status = images('test');
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
  if (status === 0) writeFileSync(testedFile, stdout);
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
