/** Finds and signals the processes that a command left behind when its keeper was killed. */
import { readdirSync, readFileSync } from 'node:fs';
import { errnoOf } from '../../kit/errno.ts';
import { statFields } from './process-states.ts';

export interface LostCommand {
  /** The pid of the first process, which is also the id of the session. */
  readonly leader: number;
  readonly startedMs: number;
  /** When the keeper was lost. */
  readonly lostMs: number;
}

export interface Orphan {
  readonly pid: number;
  /** Ticks since boot; together with the pid they identify one process. */
  readonly startTicks: number;
}

/** The length of a tick in the user interface of Linux, on every machine. */
const tickMs = 10;
/** Largest expected difference between the kernel's clock and the clock of a journal. */
const slackMs = 1000;

/**
 * The living processes of the session.
 * The kernel does not reuse a session id while a process is in the session. One process that started before the loss
 * therefore proves that the session still belongs to the command.
 */
export function orphansOf({ leader, startedMs, lostMs }: LostCommand): Orphan[] {
  const members = leader > 0 ? allProcesses().filter(({ session, isAlive }) => session === leader && isAlive) : [];
  const bootMs = Date.now() - uptimeMs();
  const isProof = ({ startTicks }: Orphan) => {
    const atMs = bootMs + startTicks * tickMs;
    return atMs >= startedMs - slackMs && atMs <= lostMs + slackMs;
  };
  return members.some(isProof) ? members.map(({ pid, startTicks }) => ({ pid, startTicks })) : [];
}

/** The name of the system's error; null when the signal was sent. */
export function signalOrphan({ pid, startTicks }: Orphan, signal: number): string | null {
  if (readProcess(pid)?.startTicks !== startTicks) return 'ESRCH';
  try {
    process.kill(pid, signal);
    return null;
  } catch (error) {
    return errnoOf(error) ?? 'EPERM';
  }
}

interface ProcessRecord extends Orphan {
  readonly session: number;
  readonly isAlive: boolean;
}

function allProcesses(): ProcessRecord[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readProcess(Number(pid))).filter((found) => found !== null);
}

function readProcess(pid: number): ProcessRecord | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  const [state = '', , , session] = fields;
  return { pid, session: Number(session), startTicks: Number(fields[19]), isAlive: !/[ZX]/.test(state) };
}

function uptimeMs(): number {
  return Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;
}
