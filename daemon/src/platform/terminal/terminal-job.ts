/** Reads the processes of a terminal from proc(5), and signals the foreground job. */
import { readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { errnoOf } from '../../kit/errno.ts';
import { readText } from '../host/read-text.ts';
import { readAsOwner } from '../process/as-owner.ts';

export interface ShellProcess {
  /** The process group of the shell. */
  readonly group: number;
  /** The foreground process group of the terminal; the shell's own group while the shell waits for a line. */
  readonly foreground: number;
  /** The working directory; null where the daemon may not read it. */
  readonly directory: string | null;
  /** The name of the program that the process runs now (at most 15 bytes, as the kernel keeps it). */
  readonly program: string;
}

export const terminalJobs = {
  /** null once the shell has ended. */
  shell(pid: number): ShellProcess | null {
    const stat = readText(`/proc/${pid}/stat`);
    if (stat === null) return null;
    // The program name, in parentheses, may contain any character.
    const nameEnd = stat.lastIndexOf(')');
    const [, , group = '', , , foreground = ''] = stat.slice(nameEnd + 2).split(' ');
    return {
      group: Number(group),
      foreground: Number(foreground),
      directory: directoryOf(pid),
      program: stat.slice(stat.indexOf('(') + 1, nameEnd),
    };
  },

  /** The command line of the group leader; null when the leader has ended. */
  commandLine: (pid: number): string | null =>
    readText(`/proc/${pid}/cmdline`)?.replace(/\0$/, '').replaceAll('\0', ' ') || null,

  signal(group: number, signal: NodeJS.Signals): 'sent' | 'gone' | 'forbidden' {
    try {
      process.kill(-group, constants.signals[signal]); // The runtime does not know all signal names.
      return 'sent';
    } catch (error) {
      const errnoName = errnoOf(error);
      if (errnoName === 'ESRCH') return 'gone';
      if (errnoName === 'EPERM') return 'forbidden';
      throw error;
    }
  },
};

export type TerminalJobs = typeof terminalJobs;

function directoryOf(pid: number): string | null {
  try {
    return readAsOwner(pid, () => readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    return null; // The process has ended, or belongs to an account that the daemon may not inspect.
  }
}
