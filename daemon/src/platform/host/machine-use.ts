/** What the machine uses at the moment: processors, memory and the file system of the root. */
import { statfsSync } from 'node:fs';
import { cpus } from 'node:os';
import type { MachineUse } from '../../kit/types/machine-use.ts';
import { freeMemoryBytes, memoryLimitBytes } from '../memory/memory.ts';
import { readText } from './read-text.ts';

/** Returns a function that reads the use. */
export function machineMeter(): () => MachineUse {
  let last = { busy: 0, all: 0 };
  return () => {
    const now = processorTimes();
    const [busy, all] = [now.busy - last.busy, now.all - last.all];
    last = now;
    const total = memoryLimitBytes();
    const { blocks, bfree, bsize } = statfsSync('/');
    return {
      processors: now.count,
      busyPercent: all > 0 ? (100 * busy) / all : 0,
      memory: { total, used: Math.max(0, total - freeMemoryBytes()), cached: cachedBytes() },
      disk: { total: blocks * bsize, used: (blocks - bfree) * bsize },
    };
  };
}

/** Milliseconds since the start of the machine. */
function processorTimes() {
  const all = cpus();
  const sum = (of: (times: (typeof all)[number]['times']) => number) => all.reduce((n, { times }) => n + of(times), 0);
  const busy = sum(({ user, nice, sys, irq }) => user + nice + sys + irq);
  return { count: all.length, busy, all: busy + sum(({ idle }) => idle) };
}

/** Pages of files, proc(5). */
function cachedBytes(): number {
  return Number(/^Cached: +(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1] ?? 0) * 1024;
}
