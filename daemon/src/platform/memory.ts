/** Whether memory is short: of the machine, or of a control group that the daemon is in. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { totalmem } from 'node:os';

/** Less than this part of it is left. */
const shortBelow = 0.1;

export interface MemoryUse {
  readonly limitBytes: number;
  readonly leftBytes: number;
}

export function isMemoryShort(): boolean {
  const all = [machineUse(), ...groupUses(readText('/proc/self/cgroup') ?? '', '/sys/fs/cgroup')];
  return all.some((use) => use !== null && use.leftBytes < use.limitBytes * shortBelow);
}

/** What programs could have without swapping, pages of files included (proc(5)); null where it is not told. */
function machineUse(): MemoryUse | null {
  const kibibytes = /^MemAvailable: +(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1];
  return kibibytes === undefined ? null : { limitBytes: totalmem(), leftBytes: Number(kibibytes) * 1024 };
}

/** How the files of each version of control groups are called. */
const versions = {
  one: {
    mount: '/memory',
    limit: 'memory.limit_in_bytes',
    use: 'memory.usage_in_bytes',
    inactive: /^total_inactive_file (\d+)$/m,
  },
  two: { mount: '', limit: 'memory.max', use: 'memory.current', inactive: /^inactive_file (\d+)$/m },
} as const;

/** Of the own group and those around it that have a limit. `membership` is what /proc/self/cgroup says. */
export function groupUses(membership: string, root: string): MemoryUse[] {
  const one = /^\d+:(?:.*,)?memory(?:,.*)?:(\/.*)$/m.exec(membership)?.[1];
  const path = one ?? /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return [];
  const version = one === undefined ? versions.two : versions.one;
  return groupsAround(path).flatMap((group) => useOf(`${root}${version.mount}${group}`, version) ?? []);
}

/** Inside a container the path may be that of the machine, of which the mount shows only our part: its root is ours. */
function groupsAround(path: string): string[] {
  return path === '/' ? [''] : [path, ...groupsAround(dirname(path))];
}

/** Null without a limit; pages of files that may go at any time are not counted. */
function useOf(directory: string, version: (typeof versions)[keyof typeof versions]): MemoryUse | null {
  const limitBytes = Number(readText(`${directory}/${version.limit}`) ?? NaN);
  const usedBytes = Number(readText(`${directory}/${version.use}`) ?? NaN);
  // One that is larger than the machine is none: version 1 has no other word for that, version 2 says `max`.
  if (!(limitBytes < totalmem()) || Number.isNaN(usedBytes)) return null;
  const inactive = Number(version.inactive.exec(readText(`${directory}/memory.stat`) ?? '')?.[1] ?? 0);
  return { limitBytes, leftBytes: limitBytes - usedBytes + inactive };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // Another version of control groups, or a group that cannot be seen from here.
  }
}
