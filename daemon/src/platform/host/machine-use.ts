/** Reads the size of the machine and what it uses: processors, memory and the file system of the root. */
import { statfsSync, type StatsFs } from 'node:fs';
import { cpus, type CpuInfo } from 'node:os';
import type { MachineSize, MachineUse } from '../../kit/types/machine-use.ts';
import { freeMemoryBytes, memoryLimitBytes } from '../memory/memory.ts';
import { readText } from './read-text.ts';

export function machineSize(): MachineSize {
  return sizeOf(cpus(), statfsSync('/'));
}

function sizeOf(processors: readonly CpuInfo[], { blocks, bsize }: StatsFs): MachineSize {
  return { processors: processors.length, memoryBytes: memoryLimitBytes(), diskBytes: blocks * bsize };
}

/** Returns a function that reads the use. */
export function machineMeter(): () => MachineUse {
  let last = { busy: 0, all: 0 };
  return () => {
    const [processors, disk] = [cpus(), statfsSync('/')];
    const now = timesOf(processors);
    const [busy, all] = [now.busy - last.busy, now.all - last.all];
    last = now;
    const size = sizeOf(processors, disk);
    return {
      ...size,
      busyPercent: all > 0 ? (100 * busy) / all : 0,
      usedMemoryBytes: Math.max(0, size.memoryBytes - freeMemoryBytes()),
      cachedBytes: cachedBytes(),
      usedDiskBytes: size.diskBytes - disk.bfree * disk.bsize,
    };
  };
}

/** Milliseconds since the start of the machine. */
function timesOf(processors: readonly CpuInfo[]) {
  const sum = (of: (times: CpuInfo['times']) => number) => processors.reduce((n, { times }) => n + of(times), 0);
  const busy = sum(({ user, nice, sys, irq }) => user + nice + sys + irq);
  return { busy, all: busy + sum(({ idle }) => idle) };
}

/** From proc(5). */
function cachedBytes(): number {
  return Number(/^Cached: +(\d+) kB$/m.exec(readText('/proc/meminfo') ?? '')?.[1] ?? 0) * 1024;
}
