/** Reads facts about a server's processes from /proc: listeners, resident memory, descriptors. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';

const listening = '0A';

/** The local processes that listen on the port of an address. Empty when the server runs elsewhere. */
export function listenersOn(url: string): number[] {
  const port = Number(new URL(url).port);
  const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listenersIn(table, port)));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => descriptorsOf(pid).some((target) => sockets.has(target)));
}

function listenersIn(table: string, port: number): string[] {
  return socketsIn(table)
    .filter((fields) => fields[3] === listening && portOf(fields[1]) === port)
    .map((fields) => `socket:[${fields[9]}]`);
}

/** The descriptors of this process that are connected to a port. */
export function connectionsTo(port: number): number[] {
  const sockets = new Set(
    socketsIn('/proc/net/tcp')
      .filter((fields) => portOf(fields[2]) === port)
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync('/proc/self/fd')
    .filter((descriptor) => sockets.has(targetOf(`/proc/self/fd/${descriptor}`)))
    .map(Number);
}

function socketsIn(table: string): string[][] {
  const [, ...lines] = readFileSync(table, 'latin1').split('\n');
  return lines.map((line) => line.trim().split(/\s+/));
}

function portOf(address = ''): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // The descriptor was closed meanwhile.
  }
}

function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
  } catch {
    return []; // The process has just ended or belongs to another account.
  }
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
}

/** The process, its children, their children, and so on. */
export function treeOf(pid: number): number[] {
  try {
    return [pid, ...childrenOf(pid).flatMap(treeOf)];
  } catch {
    return []; // The process has just ended.
  }
}

export function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
}

const quietMs = 200;

/**
 * Resolves when the processes and their descendants have used no processor time for a while, so their start is
 * complete.
 */
export async function quiet(pids: readonly number[]): Promise<void> {
  for (let before = ''; ;) {
    const now = pids
      .flatMap(treeOf)
      .map((one) => `${one}:${ticksOf(one)}`)
      .join(' ');
    if (now === before) return;
    before = now;
    await Bun.sleep(quietMs);
  }
}

/** Processor time, in user mode and in the kernel. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0; // The process has just ended.
  }
}

/** The name of the process's program. Empty after its end. */
export function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  } catch {
    return ''; // The process has just ended.
  }
}

export function descriptorCount(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);
}

export function residentMib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + statusMib(pid, 'VmRSS'), 0);
}

/** Like residentMib, but memory that several processes share is divided among them. */
export function proportionalMib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + fieldMib(`/proc/${pid}/smaps_rollup`, 'Pss'), 0);
}

/** The peak resident memory since `forgetPeak`. */
export function peakMib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + statusMib(pid, 'VmHWM'), 0);
}

export function forgetPeak(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMib(pid: number, field: string): number {
  return fieldMib(`/proc/${pid}/status`, field);
}

function fieldMib(path: string, field: string): number {
  const text = readFileSync(path, 'latin1');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
}
