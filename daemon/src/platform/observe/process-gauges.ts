/** Gauges of the daemon's own process, its children and its data on disk. */
import { readdirSync, statSync } from 'node:fs';
import { readText } from '../host/read-text.ts';
import { statFields } from '../process/process-states.ts';
import type { GaugeSource } from './metrics.ts';

/** The names that Prometheus clients share, then the daemon's own. */
export function processGauges(runtimeDirectory: string): GaugeSource[] {
  // Read once: a value that moves between scrapes looks like a restart.
  const startedSeconds = Date.now() / 1000 - process.uptime();
  return [
    { name: 'process_resident_memory_bytes', help: 'Resident memory.', read: () => process.memoryUsage.rss() },
    { name: 'process_cpu_seconds_total', help: 'Processor time, user and system.', read: cpuSeconds },
    { name: 'process_open_fds', help: 'Open descriptors.', read: () => readdirSync('/proc/self/fd').length },
    {
      name: 'process_start_time_seconds',
      help: 'When the process started, in seconds since 1970.',
      read: () => startedSeconds,
    },
    { name: 'boxkeep_event_loop_lag_seconds', help: 'How late the event loop is now.', read: eventLoopLag },
    {
      name: 'boxkeep_zombie_processes',
      help: 'Children of init and of the daemon that ended and were not reaped.',
      read: () => zombies([process.ppid, process.pid]),
    },
    {
      name: 'boxkeep_retained_log_bytes',
      help: 'What the output of commands takes on disk.',
      read: () => diskBytes(`${runtimeDirectory}/commands`),
    },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function eventLoopLag(): Promise<number> {
  const asked = performance.now();
  return new Promise((resolve) => setImmediate(() => resolve((performance.now() - asked) / 1000)));
}

/** Counts zombies among the children of each thread; a zombie stays listed until it is reaped. */
export function zombies(parents: readonly number[]): number {
  const children = parents.flatMap((pid) =>
    list(`/proc/${pid}/task`).flatMap(
      (thread) => readText(`/proc/${pid}/task/${thread}/children`)?.match(/\d+/g) ?? [],
    ),
  );
  return children.filter((pid) => statFields(Number(pid))?.[0] === 'Z').length;
}

/** Counts blocks, not lengths, because the head of a long log is a hole. */
function diskBytes(directory: string): number {
  const sizes = list(directory).flatMap((name) =>
    ['out', 'err', 'order'].map((file) => statSync(`${directory}/${name}/${file}`, { throwIfNoEntry: false })),
  );
  return sizes.reduce((sum, status) => sum + (status?.blocks ?? 0) * 512, 0);
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // The directory was removed meanwhile.
  }
}
