/** Remembers the commit whose tests of a suite passed, so that CI repeats the suite only after a change. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageStore } from './containers.mjs';
import { repositoryRoot } from './repository.mjs';

export class LastPass {
  #file;
  #paths;

  /**
   * @param {string} name - of the file that holds the commit
   * @param {readonly string[]} paths - what the suite covers, and its tests
   */
  constructor(name, paths) {
    this.#file = join(imageStore, name);
    this.#paths = paths;
  }

  /** Whether a path has changed since. A commit that this clone does not have counts as changed. */
  isOld() {
    if (!existsSync(this.#file)) return true;
    const args = ['diff', '--quiet', readFileSync(this.#file, 'utf8').trim(), 'HEAD', '--', ...this.#paths];
    return spawnSync('git', args, { cwd: repositoryRoot, stdio: 'ignore' }).status !== 0;
  }

  /** The tests of this commit have passed. */
  note() {
    const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
    mkdirSync(imageStore, { recursive: true });
    writeFileSync(this.#file, stdout);
  }
}
