/** Puts a whole sandbox into a control group, like a container, for the duration of one test. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox, SandboxOptions } from './sandbox.ts';
import { until } from './until.ts';

export interface GroupLimits {
  readonly memoryBytes?: number;
  readonly processes?: number;
}

const root = '/sys/fs/cgroup';
const hasOneTree = existsSync(join(root, 'cgroup.controllers'));

/** The file of each limit, in the single tree of version 2 or in the separate trees of version 1. */
const controls = {
  memoryBytes: {
    tree: hasOneTree ? root : join(root, 'memory'),
    file: hasOneTree ? 'memory.max' : 'memory.limit_in_bytes',
  },
  processes: { tree: hasOneTree ? root : join(root, 'pids'), file: 'pids.max' },
} as const;

/** The file with the memory use of a sandbox in such a group, in bytes, including cached files. */
export function memoryUse(sandbox: Sandbox): string {
  return join(controls.memoryBytes.tree, sandbox.id, hasOneTree ? 'memory.current' : 'memory.usage_in_bytes');
}

/** Changes the limit on processes of such a group. Below their number, no process and no thread can be started. */
export function limitProcesses({ id }: Sandbox, count: number): void {
  const { tree, file } = controls.processes;
  writeFileSync(join(tree, id, file), String(count));
}

/** Options for a daemon that shares these limits with everything it starts. */
export function inControlGroup(limits: GroupLimits, options: SandboxOptions = {}): SandboxOptions {
  const rows = Object.entries(limits).map(([name, value]) => {
    return { ...controls[name as keyof GroupLimits], value: String(value) };
  });
  const trees = [...new Set(rows.map(({ tree }) => tree))];
  const enter = `for tree in ${trees.join(' ')}; do echo $$ > "$tree/$BOXKEEP_TEST_ID/cgroup.procs" || exit; done; exec "$@"`;
  return {
    ...options,
    launcher: ['sh', '-c', enter, 'sh', ...(options.launcher ?? [])],
    prepare(sandbox) {
      for (const { tree, file, value } of rows) limit(join(tree, sandbox.id), file, value);
      options.prepare?.(sandbox);
    },
    async afterwards(sandbox) {
      for (const tree of trees) await remove(join(tree, sandbox.id));
      await options.afterwards?.(sandbox);
    },
  };
}

function limit(directory: string, file: string, value: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, file), value);
  } catch (error) {
    throw new Error('this test needs a writable control group: run npm test as root, or in a privileged container', {
      cause: error,
    });
  }
}

/** A group can be removed after its last process is reaped, and there is no event for that. */
async function remove(directory: string): Promise<void> {
  await until(`${directory} is empty`, () => {
    try {
      rmdirSync(directory);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false;
      throw error;
    }
  });
}
