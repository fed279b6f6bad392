/** Facts of the machine, read from where the system tells them, at the moment they are asked for. */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname, machine, release, type as systemName } from 'node:os';

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
  /** TCP ports that something listens on in this network namespace, in order. */
  readonly listeningPorts: readonly number[];
}

/** The state of a listening socket in /proc/net/tcp. */
const listening = '0A';

export function readMachine(environment: Readonly<Record<string, string | undefined>>): Machine {
  return {
    hostname: hostname(),
    system: systemName(),
    distribution: /^PRETTY_NAME="?([^"\n]*)/m.exec(readText('/etc/os-release'))?.[1] ?? systemName(),
    kernel: release(),
    arch: machine(),
    timezone: environment['TZ'] || zoneOfLocaltime() || 'UTC',
    listeningPorts: readListeningPorts(),
  };
}

/** Changes when the file does: what was learned of a program holds while its stamp stays. Null when it is gone. */
export function fileStamp(path: string): string | null {
  const status = statSync(path, { throwIfNoEntry: false, bigint: true });
  return status ? `${status.dev} ${status.ino} ${status.size} ${status.mtimeNs}` : null;
}

/** When it was changed last, in nanoseconds as text; null when it is not there, or not ours to look at. */
export function modifiedNs(path: string): string | null {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true })?.mtimeNs.toString() ?? null;
  } catch {
    return null; // A directory above it lets this account not pass.
  }
}

function zoneOfLocaltime(): string | null {
  try {
    return /\/zoneinfo\/(.+)$/.exec(readlinkSync('/etc/localtime'))?.[1] ?? null;
  } catch {
    return null; // Absent, or a copy that has lost its name.
  }
}

function readListeningPorts(): number[] {
  const lines = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].flatMap((path) => readText(path).split('\n').slice(1));
  const ports = lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening)
    .map(([, address = '']) => Number.parseInt(address.split(':').at(-1) ?? '', 16));
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Not on this system; the caller says so in its own words.
  }
}
