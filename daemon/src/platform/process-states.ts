/** What proc(5) tells of processes that the daemon has not started itself. */
import { readFileSync } from 'node:fs';

export interface ProcessStates {
  /** Who has not taken notice yet that this process has ended; null while it lives, and once it is gone. */
  readonly unawareParent: (pid: number) => number | null;
  /** Tells it, once more, that a child of it has ended. */
  readonly remind: (parent: number) => void;
  /** null where it cannot be known. */
  readonly residentBytes: (pid: number) => number | null;
}

const pageBytes = 4096;

export const processStates: ProcessStates = {
  unawareParent(pid) {
    const stat = readProc(pid, 'stat');
    const [state, parent] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    return state === 'Z' ? Number(parent) : null;
  },

  remind(parent) {
    try {
      process.kill(parent, 'SIGCHLD');
    } catch {
      // It has ended meanwhile, or belongs to an account that this one may not signal.
    }
  },

  residentBytes(pid) {
    const pages = readProc(pid, 'statm')?.split(' ')[1];
    return pages === undefined ? null : Number(pages) * pageBytes;
  },
};

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return null; // It has ended meanwhile.
  }
}
