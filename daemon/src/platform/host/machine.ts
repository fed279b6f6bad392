/** Reads facts about the machine from the system at the moment of the request. */
import { readlinkSync, statSync } from 'node:fs';
import { hostname, machine, release, type as systemName } from 'node:os';
import type { Environment } from '../../kit/types/environment.ts';
import { readText } from './read-text.ts';

export interface Machine {
  readonly hostname: string;
  /** `Linux`. */
  readonly system: string;
  /** The distribution: `Debian GNU/Linux 12 (bookworm)`. */
  readonly distribution: string;
  readonly kernel: string;
  /** `x86_64`, `aarch64`. */
  readonly arch: string;
  readonly timezone: string;
  /** TCP ports with a listener in this network namespace, in ascending order. */
  readonly listeningPorts: readonly number[];
}

/** The state of a listening socket in /proc/net/tcp. */
const listening = '0A';

export function readMachine(environment: Environment): Machine {
  return {
    hostname: hostname(),
    system: systemName(),
    distribution: /^PRETTY_NAME="?([^"\n]*)/m.exec(readText('/etc/os-release') ?? '')?.[1] ?? systemName(),
    kernel: release(),
    arch: machine(),
    timezone: environment['TZ'] || zoneOfLocaltime() || 'UTC',
    listeningPorts: readListeningPorts(),
  };
}

/** Changes when the file changes, so facts about a program stay valid with the stamp. Null without the file. */
export function fileStamp(path: string): string | null {
  const status = statSync(path, { throwIfNoEntry: false, bigint: true });
  return status ? `${status.dev} ${status.ino} ${status.size} ${status.mtimeNs}` : null;
}

/** The modification time in nanoseconds, as text; null when the file is missing or the daemon may not access it. */
export function modifiedNs(path: string): string | null {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true })?.mtimeNs.toString() ?? null;
  } catch {
    return null; // The daemon may not search a parent directory.
  }
}

function zoneOfLocaltime(): string | null {
  try {
    return /\/zoneinfo\/(.+)$/.exec(readlinkSync('/etc/localtime'))?.[1] ?? null;
  } catch {
    return null; // Absent, or a copy instead of a symbolic link, which does not carry the name.
  }
}

function readListeningPorts(): number[] {
  const lines = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].flatMap(
    (path) => readText(path)?.split('\n').slice(1) ?? [],
  );
  const ports = lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening)
    .map(([, address = '']) => Number.parseInt(address.split(':').at(-1) ?? '', 16));
  return [...new Set(ports)].toSorted((a, b) => a - b);
}
