/** Detects whether a shell waits for a line, from its terminal mode and the system call in which it sleeps. */
import { closeSync, constants, openSync, readFileSync, readlinkSync } from 'node:fs';
import { dlopen, ptr } from 'bun:ffi';
import { once } from '../../kit/once.ts';
import { readAsOwner } from '../process/as-owner.ts';

/** Bits of c_iflag and c_lflag, termios(3). */
const [inlcr, icrnl] = [0x40, 0x100];
const [isig, icanon, echo] = [1, 2, 8];
/** The size of `struct termios` in the C library. */
const termiosBytes = 60;
/** The major device number of pseudo-terminals. */
const ptsMajor = 136;

/** The request of ioctl(2) for the number of bytes that can be read, ioctl_tty(2). */
const fionread = 0x541b;

const library = once(
  () =>
    dlopen('libc.so.6', {
      tcgetattr: { args: ['i32', 'ptr'], returns: 'i32' },
      ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' },
    }).symbols,
);

/**
 * `editor`: a line editor controls the terminal, in a mode that programs do not set for a plain read. `line`: the
 * process sleeps in a read of a whole line from the terminal.
 */
export type Waiting = 'editor' | 'line' | 'no' | 'unknown';

export const terminalModes = {
  waiting(pid: number): Waiting {
    const modes = modesOf(pid);
    if (modes === null) return 'unknown';
    // A shell that was not scheduled for a while still shows the mode of its prompt.
    if (modes.unread > 0) return 'no';
    const isRaw = (modes.local & (icanon | echo)) === 0;
    // The editors of bash and fish turn off ICRNL, the editor of zsh sets INLCR, and the editor of busybox reads ^C
    // itself.
    const isEdited = (modes.input & (icrnl | inlcr)) !== icrnl || (modes.local & isig) === 0;
    if (isRaw && isEdited) return 'editor';
    return (modes.local & icanon) !== 0 ? readingLine(pid) : 'no';
  },

  /** Changes when the process becomes another program by exec. */
  image(pid: number): string | null {
    const stat = readProc(pid, 'stat');
    if (stat === null) return null;
    const nameEnd = stat.lastIndexOf(')');
    const fields = stat.slice(nameEnd + 2).split(' ');
    // startcode and startstack, proc(5): each exec places them anew.
    return `${stat.slice(stat.indexOf('('), nameEnd)} ${fields[23]} ${fields[25]}`;
  },
};

export type TerminalModes = typeof terminalModes;

/** `unread`: bytes that were typed and not read yet. */
function modesOf(pid: number): { readonly input: number; readonly local: number; readonly unread: number } | null {
  let fd: number | null = null;
  try {
    const path = terminalOf(pid);
    if (path === null) return null;
    fd = openSync(path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    const termios = new Uint32Array(termiosBytes / 4);
    if (library().tcgetattr(fd, ptr(termios)) !== 0) return null;
    const unread = new Int32Array(1);
    if (library().ioctl(fd, fionread, ptr(unread)) !== 0) return null;
    return { input: termios[0] ?? 0, local: termios[3] ?? 0, unread: unread[0] ?? 0 };
  } catch {
    return null; // The process has ended, or the daemon may not inspect it.
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** The first of the usual descriptors that is a terminal: a shell may have redirected its output. */
function terminalOf(pid: number): string | null {
  for (const fd of [0, 2, 1, 10, 255]) {
    const path = linkOf(pid, fd);
    if (path?.startsWith('/dev/pts/')) return path;
    if (path === '/dev/tty') return controllingTerminalOf(pid);
  }
  return null;
}

/** Found by device number (proc(5)), because /dev/tty is a different terminal for each process. */
function controllingTerminalOf(pid: number): string | null {
  const stat = readProc(pid, 'stat') ?? '';
  const number = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]);
  const isPts = ((number >> 8) & 0xfff) === ptsMajor;
  return isPts ? `/dev/pts/${(number & 0xff) | ((number >>> 12) & 0xfff00)}` : null;
}

function linkOf(pid: number, fd: number): string | null {
  try {
    return readAsOwner(pid, () => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return null; // The descriptor is not open.
  }
}

/** A shell without an editor reads input in blocks; the `read` builtin of most shells reads byte by byte. */
function readingLine(pid: number): Waiting {
  const text = readProc(pid, 'syscall');
  if (text === null) return 'unknown';
  const [call, fd, , count] = text.split(' ');
  const read = process.arch === 'arm64' ? '63' : '0';
  // The process may also be reading the output of a command, or a file.
  const path = call === read ? linkOf(pid, Number(fd)) : null;
  const isTerminal = path === '/dev/tty' || path?.startsWith('/dev/pts/') === true;
  return isTerminal && Number(count) > 1 ? 'line' : 'no';
}

function readProc(pid: number, file: string): string | null {
  try {
    return readAsOwner(pid, () => readFileSync(`/proc/${pid}/${file}`, 'latin1'));
  } catch {
    return null; // The process has ended, or the daemon may not inspect it.
  }
}
