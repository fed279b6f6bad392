/** Finds what a test run has left on the machine: files in shared directories, processes and control groups. */
import { readdirSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The names that the tests, the daemon and a tested Python give to entries in shared directories. */
const ownNames = /^(\.?boxkeep-|interpreter-|tidy-|queue-|failures-|make-once-|accounts-|dbus-|tmp[a-z0-9_]{8}$)/;
/** The test harness names a control group after the id of its sandbox. */
const groupNames = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** npm, pip and the runtime keep downloads in the home of the account. */
const caches = ['.bun', '.cache', '.npm'];
/** Every process that a test starts inherits one of these variables. */
const testMarks = ['BOXKEEP_TEST_ID', 'BOXKEEP_NATIVE_TEST'];

/** Other programs leave entries in these directories too. */
const sharedPlaces = () => [...new Set([tmpdir(), '/tmp', '/var/tmp', '/var/lib', '/dev/shm'])];
/** The single tree of version 2, and the two trees of version 1 that the tests use. */
const cgroups = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids'];

/**
 * Every new name counts in `whole`. In `shared` and among the control groups of `groups`, only names that tests make
 * count. `marks` are the variables of processes.
 */
export class Leftovers {
  #places;
  #before;

  constructor({
    whole = ['/', '/home', homedir()],
    shared = sharedPlaces(),
    groups = cgroups,
    marks = testMarks,
  } = {}) {
    this.#places = { whole, shared, groups, marks };
    this.#before = new Set(this.#list());
  }

  /** The new paths and processes. They include those of other test runs at the same time. */
  find() {
    return this.#list().filter((path) => !this.#before.has(path));
  }

  #list() {
    const { whole, shared, groups, marks } = this.#places;
    return [
      ...whole.flatMap((place) => pathsIn(place, (name) => !caches.includes(name))),
      ...shared.flatMap((place) => pathsIn(place, (name) => ownNames.test(name))),
      ...groups.flatMap((place) => pathsIn(place, (name) => groupNames.test(name))),
      ...processesWith(marks),
    ];
  }
}

function pathsIn(place, isMeant) {
  return namesIn(place)
    .filter(isMeant)
    .map((name) => join(place, name));
}

function processesWith(marks) {
  const isMark = (variable) => marks.some((name) => variable.startsWith(`${name}=`));
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
