/** Limits a server to half a core and 512 MiB, like a small sandbox, with a cgroup v1 or v2. */
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';
const periodUs = 100_000;
const quotaUs = periodUs / 2;
const memoryBytes = 512 * 2 ** 20;

export interface Limit extends Disposable {
  /** A prefix for a command line: enters the group, then runs the command. */
  readonly enter: readonly string[];
  /** Moves running processes into the group. */
  take(pids: readonly number[]): void;
}

/** Makes a group for one server. Throws an error of one sentence where the machine does not allow it. */
export function makeLimit(name: string): Limit {
  const groups = existsSync(join(root, 'cgroup.controllers')) ? unified(name) : legacy(name);
  const files = groups.map((group) => join(group, 'cgroup.procs'));
  return {
    enter: ['/bin/sh', '-c', `for f in ${files.join(' ')}; do echo $$ > $f; done; exec "$0" "$@"`],
    take: (pids) => pids.forEach((pid) => files.forEach((file) => writeFileSync(file, String(pid)))),
    [Symbol.dispose]: () => groups.forEach(remove),
  };
}

function unified(name: string): string[] {
  for (const controller of ['cpu', 'memory']) {
    if (!readFileSync(join(root, 'cgroup.subtree_control'), 'latin1').split(/\s/).includes(controller)) {
      attempt(() => writeFileSync(join(root, 'cgroup.subtree_control'), `+${controller}`));
    }
  }
  const group = groupUnder(root, name);
  attempt(() => writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`));
  attempt(() => writeFileSync(join(group, 'memory.max'), String(memoryBytes)));
  return [group];
}

function legacy(name: string): string[] {
  const [cpu, memory] = [groupUnder(join(root, 'cpu'), name), groupUnder(join(root, 'memory'), name)];
  attempt(() => writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(periodUs)));
  attempt(() => writeFileSync(join(cpu, 'cpu.cfs_quota_us'), String(quotaUs)));
  attempt(() => writeFileSync(join(memory, 'memory.limit_in_bytes'), String(memoryBytes)));
  return [cpu, memory];
}

function groupUnder(parent: string, name: string): string {
  const group = join(parent, `boxkeep-bench-${process.pid}-${name}`);
  attempt(() => accessSync(parent, constants.W_OK));
  attempt(() => mkdirSync(group));
  return group;
}

/** A server that outlives the bench returns to the parent group without limits. */
function remove(group: string): void {
  const parent = join(group, '../cgroup.procs');
  const pids = readFileSync(join(group, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean);
  for (const pid of pids) writeFileSync(parent, pid);
  rmdirSync(group);
}

function attempt(step: () => void): void {
  try {
    step();
  } catch (error) {
    throw new Error(`this machine lets us make no cgroup: ${(error as Error).message}`, { cause: error });
  }
}
