/** Controls a terminal of another process through its device: holds output and queries state, never reads or writes. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { dlopen, ptr } from 'bun:ffi';
import { statFields } from '../process/process-states.ts';
import { once } from '../../kit/once.ts';

/** tcflow(3) */
const [suspendOutput, resumeOutput] = [0, 1];
/** ioctl_tty(2) */
const [askSize, askUnread] = [0x5413, 0x541b];

export interface TerminalPlace {
  /** The leader of the session. After it ends, the same path may be another terminal. */
  readonly pid: number;
  readonly path: string;
}

const library = once(
  () =>
    dlopen('libc.so.6', {
      tcflow: { args: ['i32', 'i32'], returns: 'i32' },
      ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' },
    }).symbols,
);

export const terminalDevices = {
  /** Blocks writers, but not typed input, until the release, also beyond the life of the daemon. */
  hold: (place: TerminalPlace): boolean =>
    withDevice(place, (device) => library().tcflow(device, suspendOutput) === 0) ?? false,
  release: (place: TerminalPlace): void => void withDevice(place, (device) => library().tcflow(device, resumeOutput)),

  /** null where the size is unknown. */
  size(place: TerminalPlace): { readonly cols: number; readonly rows: number } | null {
    const size = new Uint16Array(4);
    const hasSucceeded = withDevice(place, (device) => library().ioctl(device, askSize, ptr(size)) === 0);
    const [rows = 0, cols = 0] = size;
    return hasSucceeded ? { cols, rows } : null;
  },

  /** Typed bytes in the terminal's buffer that no program has read yet; null where the count is unknown. */
  unreadBytes(place: TerminalPlace): number | null {
    const count = new Int32Array(1);
    const hasSucceeded = withDevice(place, (device) => library().ioctl(device, askUnread, ptr(count)) === 0);
    return hasSucceeded ? (count[0] ?? 0) : null;
  },
};

export type TerminalDevices = typeof terminalDevices;

function withDevice<T>({ pid, path }: TerminalPlace, use: (device: number) => T): T | null {
  let device: number | null = null;
  try {
    device = openSync(path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    // tty_nr, proc(5): the device number of the terminal of this process.
    const terminal = Number(statFields(pid)?.[4]);
    return fstatSync(device).rdev === terminal ? use(device) : null;
  } catch {
    return null; // The session leader has ended, or the daemon may not open the device.
  } finally {
    if (device !== null) closeSync(device);
  }
}
