/** Reports total and free memory: of the machine, or of the control groups that contain the daemon. */
import { dirname } from 'node:path';
import { totalmem } from 'node:os';
import { readText } from '../host/read-text.ts';

/** Memory is short when less than this part of it is left. */
const shortBelow = 0.1;

export interface MemoryUse {
  readonly limitBytes: number;
  readonly leftBytes: number;
}

export function isMemoryShort(): boolean {
  return memoryUses().some((use) => use.leftBytes < use.limitBytes * shortBelow);
}

/** The memory that this process and the others in its control group may use in all. */
export function memoryLimitBytes(): number {
  return Math.min(totalmem(), ...memoryUses().map(({ limitBytes }) => limitBytes));
}

/** Bytes that can be allocated now before the system kills a process for lack of memory. */
export function freeMemoryBytes(): number {
  return Math.min(totalmem(), ...memoryUses().map(({ leftBytes }) => leftBytes));
}

/** Frees memory that the runtime no longer uses. Blocks some milliseconds for each 100 MiB in use. */
export function collectGarbage(): void {
  Bun.gc(true);
}

function memoryUses(): MemoryUse[] {
  const machine = machineUse();
  const groups = groupUses(readText('/proc/self/cgroup') ?? '', '/sys/fs/cgroup');
  return machine ? [machine, ...groups] : groups;
}

/** What programs could allocate without swapping, file pages included (proc(5)); null if unknown. */
function machineUse(): MemoryUse | null {
  const kibibytes = /^MemAvailable: +(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1];
  return kibibytes === undefined ? null : { limitBytes: totalmem(), leftBytes: Number(kibibytes) * 1024 };
}

/** The file names of each version of control groups. */
const versions = {
  one: {
    mount: '/memory',
    limits: ['memory.limit_in_bytes'],
    use: 'memory.usage_in_bytes',
    inactive: /^total_inactive_file (\d+)$/m,
    active: /^total_active_file (\d+)$/m,
  },
  two: {
    mount: '',
    // Above memory.high the kernel slows down every process that allocates.
    limits: ['memory.max', 'memory.high'],
    use: 'memory.current',
    inactive: /^inactive_file (\d+)$/m,
    active: /^active_file (\d+)$/m,
  },
} as const;

/** The use of the daemon's group and of the enclosing groups with a limit, from /proc/self/cgroup. */
export function groupUses(membership: string, root: string): MemoryUse[] {
  const one = /^\d+:(?:.*,)?memory(?:,.*)?:(\/.*)$/m.exec(membership)?.[1];
  const path = one ?? /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return [];
  const version = one === undefined ? versions.two : versions.one;
  return groupsAround(path).flatMap((group) => useOf(`${root}${version.mount}${group}`, version) ?? []);
}

/**
 * The group and its ancestors. Inside a container the path may be the one on the machine, while the mount shows only
 * the container's part, at its root.
 */
function groupsAround(path: string): string[] {
  return path === '/' ? [''] : [path, ...groupsAround(dirname(path))];
}

/**
 * Null without a limit. Inactive file pages, which the kernel can drop at any time, do not count as used; active ones
 * count half.
 */
function useOf(directory: string, version: (typeof versions)[keyof typeof versions]): MemoryUse | null {
  const limits = version.limits.map((file) => Number(readText(`${directory}/${file}`) ?? NaN));
  const limitBytes = Math.min(...limits.filter((bytes) => !Number.isNaN(bytes)));
  const usedBytes = Number(readText(`${directory}/${version.use}`) ?? NaN);
  // A limit above the memory of the machine means no limit: version 1 has no other word for that, version 2 says `max`.
  if (!(limitBytes < totalmem()) || Number.isNaN(usedBytes)) return null;
  const statistics = readText(`${directory}/memory.stat`) ?? '';
  const [inactive, active] = [version.inactive, version.active].map((row) => Number(row.exec(statistics)?.[1] ?? 0));
  return { limitBytes, leftBytes: limitBytes - usedBytes + inactive! + active! / 2 };
}
