/** The processes at a terminal as proc(5) tells of them, and signals to the job in its foreground. */
import { readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';

export interface ShellProcess {
  /** Its own process group. */
  readonly group: number;
  /** The process group that has the terminal now; its own while it waits for a line. */
  readonly foreground: number;
  /** Where it is; null where the daemon may not know. */
  readonly directory: string | null;
  /** The name of the program that it is now (at most 15 bytes, as the kernel keeps it). */
  readonly program: string;
}

export interface TerminalJobs {
  /** null once it has ended. */
  readonly shell: (pid: number) => ShellProcess | null;
  /** The command line of the leader of a group; null when that has ended. */
  readonly commandLine: (pid: number) => string | null;
  readonly signal: (group: number, signal: NodeJS.Signals) => 'sent' | 'nobody' | 'forbidden';
}

export const terminalJobs: TerminalJobs = {
  shell(pid) {
    const stat = readProc(pid, 'stat');
    if (stat === null) return null;
    // The name of the program, in parentheses, may hold anything.
    const nameEnd = stat.lastIndexOf(')');
    const [, , group = '', , , foreground = ''] = stat.slice(nameEnd + 2).split(' ');
    return {
      group: Number(group),
      foreground: Number(foreground),
      directory: directoryOf(pid),
      program: stat.slice(stat.indexOf('(') + 1, nameEnd),
    };
  },

  commandLine: (pid) => readProc(pid, 'cmdline')?.replace(/\0$/, '').replaceAll('\0', ' ') || null,

  signal(group, signal) {
    try {
      process.kill(-group, constants.signals[signal]); // The runtime does not know all of them by name.
      return 'sent';
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ESRCH') return 'nobody';
      if (code === 'EPERM') return 'forbidden';
      throw error;
    }
  },
};

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null; // It has ended meanwhile.
  }
}

function directoryOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // It has ended meanwhile, or belongs to an account that this one may not look at.
  }
}
