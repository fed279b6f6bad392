/** A terminal that another process holds, through its own end: held up, looked at, never read or written. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dlopen, ptr } from 'bun:ffi';
import { once } from '../kit/once.ts';

/** tcflow(3) */
const [suspendOutput, resumeOutput] = [0, 1];
/** ioctl_tty(2) */
const [askSize, askUnread] = [0x5413, 0x541b];

export interface TerminalPlace {
  /** The leader of its session: without it, the same path is another terminal. */
  readonly pid: number;
  readonly path: string;
}

export interface TerminalDevices {
  /**
   * Whoever writes to it waits, until it is released; what is typed still arrives. The kernel holds that, beyond the
   * life of the daemon. False where it cannot be held.
   */
  readonly hold: (place: TerminalPlace) => boolean;
  readonly release: (place: TerminalPlace) => void;
  /** null where it cannot be known. */
  readonly size: (place: TerminalPlace) => { readonly cols: number; readonly rows: number } | null;
  /** What was typed and no program has read yet, as far as the terminal has it; null where it cannot be known. */
  readonly unreadBytes: (place: TerminalPlace) => number | null;
}

const library = once(
  () =>
    dlopen('libc.so.6', {
      tcflow: { args: ['i32', 'i32'], returns: 'i32' },
      ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' },
    }).symbols,
);

export const terminalDevices: TerminalDevices = {
  hold: (place) => withDevice(place, (device) => library().tcflow(device, suspendOutput) === 0) ?? false,
  release: (place) => void withDevice(place, (device) => library().tcflow(device, resumeOutput)),

  size(place) {
    const size = new Uint16Array(4);
    const isTold = withDevice(place, (device) => library().ioctl(device, askSize, ptr(size)) === 0);
    const [rows = 0, cols = 0] = size;
    return isTold ? { cols, rows } : null;
  },

  unreadBytes(place) {
    const count = new Int32Array(1);
    const isTold = withDevice(place, (device) => library().ioctl(device, askUnread, ptr(count)) === 0);
    return isTold ? (count[0] ?? 0) : null;
  },
};

function withDevice<T>({ pid, path }: TerminalPlace, use: (device: number) => T): T | null {
  let device: number | null = null;
  try {
    device = openSync(path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    return fstatSync(device).rdev === terminalOf(pid) ? use(device) : null;
  } catch {
    return null; // It has ended meanwhile, or the daemon may not look at it.
  } finally {
    if (device !== null) closeSync(device);
  }
}

/** tty_nr, proc(5): the number of the device that is the terminal of this process. */
function terminalOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]);
}
