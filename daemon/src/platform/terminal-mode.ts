/** Whether a shell waits for a line, seen from the mode of its terminal and from the call that it sleeps in. */
import { closeSync, constants, openSync, readFileSync, readlinkSync } from 'node:fs';
import { dlopen, ptr } from 'bun:ffi';
import { once } from '../kit/once.ts';

/** Bits of c_iflag and c_lflag, termios(3). */
const [inlcr, icrnl] = [0x40, 0x100];
const [isig, icanon, echo] = [1, 2, 8];
/** Of `struct termios`, as the C library has it. */
const termiosBytes = 60;
/** Of the device numbers of terminals. */
const ptsMajor = 136;

const library = once(() => dlopen('libc.so.6', { tcgetattr: { args: ['i32', 'ptr'], returns: 'i32' } }).symbols);

/**
 * `editor`: a line editor has the terminal, as no program leaves it for a mere read. `line`: the process sleeps in a read
 * of a whole line of it.
 */
export type Waiting = 'editor' | 'line' | 'no' | 'unknown';

export interface TerminalModes {
  readonly waiting: (pid: number) => Waiting;
  /** Another value when the process has become another program by exec. */
  readonly image: (pid: number) => string | null;
}

export const terminalModes: TerminalModes = {
  waiting(pid) {
    const modes = modesOf(pid);
    if (modes === null) return 'unknown';
    const isRaw = (modes.local & (icanon | echo)) === 0;
    // The editors of bash and fish read Enter as it is, that of zsh has it exchanged, and that of busybox reads ^C itself.
    const isEdited = (modes.input & (icrnl | inlcr)) !== icrnl || (modes.local & isig) === 0;
    if (isRaw && isEdited) return 'editor';
    return (modes.local & icanon) !== 0 ? readingLine(pid) : 'no';
  },

  image(pid) {
    const stat = readProc(pid, 'stat');
    if (stat === null) return null;
    const nameEnd = stat.lastIndexOf(')');
    const fields = stat.slice(nameEnd + 2).split(' ');
    // startcode and startstack, proc(5): each exec lays a program out anew.
    return `${stat.slice(stat.indexOf('('), nameEnd)} ${fields[23]} ${fields[25]}`;
  },
};

function modesOf(pid: number): { readonly input: number; readonly local: number } | null {
  let fd: number | null = null;
  try {
    const path = terminalOf(pid);
    if (path === null) return null;
    fd = openSync(path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    const termios = new Uint32Array(termiosBytes / 4);
    if (library().tcgetattr(fd, ptr(termios)) !== 0) return null;
    return { input: termios[0] ?? 0, local: termios[3] ?? 0 };
  } catch {
    return null; // It has ended meanwhile, or the daemon may not look at it.
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** The first of its descriptors that is one: a shell may have sent its output elsewhere. */
function terminalOf(pid: number): string | null {
  for (const fd of [0, 2, 1, 10, 255]) {
    const path = linkOf(pid, fd);
    if (path?.startsWith('/dev/pts/')) return path;
    if (path === '/dev/tty') return controllingTerminalOf(pid);
  }
  return null;
}

/** By its number, proc(5): what is called /dev/tty is another one for everybody. */
function controllingTerminalOf(pid: number): string | null {
  const stat = readProc(pid, 'stat') ?? '';
  const number = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]);
  const isPts = ((number >> 8) & 0xfff) === ptsMajor;
  return isPts ? `/dev/pts/${(number & 0xff) | ((number >>> 12) & 0xfff00)}` : null;
}

function linkOf(pid: number, fd: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return null; // It has not got that one.
  }
}

/** A shell without an editor reads what comes in blocks; the `read` of most takes one byte after another. */
function readingLine(pid: number): Waiting {
  const text = readProc(pid, 'syscall');
  if (text === null) return 'unknown';
  const [call, fd, , count] = text.split(' ');
  const read = process.arch === 'arm64' ? '63' : '0';
  // It may as well read what a command of it prints, or a file.
  const path = call === read ? linkOf(pid, Number(fd)) : null;
  const isTerminal = path === '/dev/tty' || path?.startsWith('/dev/pts/') === true;
  return isTerminal && Number(count) > 1 ? 'line' : 'no';
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return null; // It has ended meanwhile, or the daemon may not look at it.
  }
}
