/** Reads from proc(5) the state of processes that the daemon did not start itself. */
import { readText } from '../host/read-text.ts';

export interface ProcessStates {
  /** The parent that has not reaped this ended process yet; null while the process lives, and once it is gone. */
  readonly unawareParent: (pid: number) => number | null;
  /** Sends SIGCHLD to the parent again. */
  readonly remind: (parent: number) => void;
  /** The session, setsid(2), that a process belongs to; null once the process is gone. */
  readonly session: (pid: number) => number | null;
  /** True when the process has ended or was killed, even if its parent has not reaped it yet. */
  readonly isDying: (pid: number) => boolean;
  /** null where the size is unknown. */
  readonly residentBytes: (pid: number) => number | null;
}

const pageBytes = 4096;
/** SIGKILL is bit 8 of the hexadecimal mask, which is the lowest bit of the third digit from the end. */
const pendingKill = /^(?:Sig|Shd)Pnd:\s+[0-9a-f]*[13579bdf][0-9a-f]{2}$/m;

export const processStates: ProcessStates = {
  unawareParent(pid) {
    const [state, parent] = statFields(pid) ?? [];
    return state === 'Z' ? Number(parent) : null;
  },

  remind(parent) {
    try {
      process.kill(parent, 'SIGCHLD');
    } catch {
      // The parent has ended, or belongs to an account that the daemon may not signal.
    }
  },

  session(pid) {
    const session = statFields(pid)?.[3];
    return session === undefined ? null : Number(session);
  },

  isDying(pid) {
    const status = readText(`/proc/${pid}/status`);
    return status === null || /^State:\s+[ZX]/m.test(status) || pendingKill.test(status);
  },

  residentBytes(pid) {
    const pages = readText(`/proc/${pid}/statm`)?.split(' ')[1];
    return pages === undefined ? null : Number(pages) * pageBytes;
  },
};

/** The fields of /proc/<pid>/stat after the program name, which may contain any character; null once gone. */
export function statFields(pid: number): string[] | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? null;
}
