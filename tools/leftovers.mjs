/** Gives the test files of one run a home and a temporary directory, and finds what they leave on the machine. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { testRunVariable } from './test-run.mjs';

/** npm, pip and the runtime keep downloads in the home of the account. */
const caches = ['.bun', '.cache', '.npm'];
/** A compiler that rustup has installed makes it in any home, also when it is only asked for its version. */
const ofTools = ['.rustup'];

/** Directories in which tests make names of their own, beside their temporary directory. */
const sharedPlaces = ['/', '/home', '/tmp', '/var/tmp', '/var/lib', '/dev/shm'];
/** The single tree of version 2, and the two trees of version 1 that the tests use. */
const cgroups = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids'];

/**
 * Only what belongs to this run counts, so that people and other test runs may use the machine meanwhile: everything in
 * the run's own directories, and elsewhere what has the id of the run in its name or in its variables.
 */
export class TestRun {
  id = randomUUID().slice(0, 8);
  #temporary;
  #home;
  #shared;
  #groups;
  #linked;

  /** The name of the temporary directory is short, because sockets below it have a path of at most 107 bytes. */
  constructor({ parent = '/tmp', home = homedir(), shared = sharedPlaces, groups = cgroups } = {}) {
    this.#shared = shared;
    this.#groups = groups;
    this.#temporary = join(parent, `bk-${this.id}`);
    this.#home = `${this.#temporary}-home`;
    mkdirSync(this.#temporary);
    chmodSync(this.#temporary, 0o1777); // As /tmp: daemons of other accounts work in it.
    mkdirSync(this.#home, { mode: 0o755 });
    // What is downloaded before the tests is found by them.
    for (const name of caches) mkdirSync(join(home, name), { recursive: true });
    // Tools find their settings and downloads, and a new name stays beside the links.
    this.#linked = new Set(namesIn(home));
    for (const name of this.#linked) symlinkSync(join(home, name), join(this.#home, name));
  }

  /** The variables of each test file. */
  get environment() {
    return { [testRunVariable]: this.id, TMPDIR: this.#temporary, HOME: this.#home };
  }

  /** The paths and processes that are left. */
  leftovers() {
    const isNew = (name) => !this.#linked.has(name) && ![...caches, ...ofTools].includes(name);
    return [
      ...pathsIn(this.#temporary, () => true),
      ...pathsIn(this.#home, isNew),
      ...this.#shared.flatMap((place) => pathsIn(place, (name) => name.includes(this.id) && !this.#isOwn(place, name))),
      ...this.#groups.flatMap((place) => pathsIn(place, (name) => name.startsWith(this.id))),
      ...processesOf(this.id),
    ];
  }

  remove() {
    for (const place of [this.#temporary, this.#home]) rmSync(place, { recursive: true, force: true });
  }

  #isOwn(place, name) {
    return [this.#temporary, this.#home].includes(join(place, name));
  }
}

function pathsIn(place, isMeant) {
  return namesIn(place)
    .filter(isMeant)
    .map((name) => join(place, name));
}

/** A program that a test starts has the id in a variable: the one of the run, or a mark that contains it. */
function processesOf(id) {
  const isMark = (variable) => /^BOXKEEP_[A-Z_]+=/.test(variable) && variable.includes(id);
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').some(isMark))
    .map((pid) => `process ${pid} (${textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()})`);
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has ended meanwhile, or belongs to another account.
  }
}

function namesIn(place) {
  try {
    return readdirSync(place);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return []; // Not every machine has each directory.
    throw error;
  }
}
