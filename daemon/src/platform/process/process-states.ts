/** Reads from proc(5) the state of processes that the daemon did not start itself. */
import { readText } from '../host/read-text.ts';

const pageBytes = 4096;
/** SIGKILL is bit 8 of the hexadecimal mask, which is the lowest bit of the third digit from the end. */
const pendingKill = /^(?:Sig|Shd)Pnd:\s+[0-9a-f]*[13579bdf][0-9a-f]{2}$/m;

export const processStates = {
  /** The parent that has not reaped this ended process yet; null while the process lives, and once it is gone. */
  unawareParent(pid: number): number | null {
    const [state, parent] = statFields(pid) ?? [];
    return state === 'Z' ? Number(parent) : null;
  },

  /** Sends SIGCHLD to the parent again. */
  remind(parent: number): void {
    try {
      process.kill(parent, 'SIGCHLD');
    } catch {
      // The parent has ended, or belongs to an account that the daemon may not signal.
    }
  },

  /** The session, setsid(2), that a process belongs to; null once the process is gone. */
  session(pid: number): number | null {
    const session = statFields(pid)?.[3];
    return session === undefined ? null : Number(session);
  },

  /** True when the process has ended or was killed, even if its parent has not reaped it yet. */
  isDying(pid: number): boolean {
    const status = readText(`/proc/${pid}/status`);
    return status === null || /^State:\s+[ZX]/m.test(status) || pendingKill.test(status);
  },

  /** null where the size is unknown. */
  residentBytes(pid: number): number | null {
    const pages = readText(`/proc/${pid}/statm`)?.split(' ')[1];
    return pages === undefined ? null : Number(pages) * pageBytes;
  },
};

export type ProcessStates = typeof processStates;

/** The fields of /proc/<pid>/stat after the program name, which may contain any character; null once gone. */
export function statFields(pid: number): string[] | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? null;
}
