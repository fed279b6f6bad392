/** The terminal that this very process was started at: made raw, put back, and asked for its size. */
import { dlopen, ptr } from 'bun:ffi';
import { isatty } from 'node:tty';
import { once } from '../kit/once.ts';

/** More than a termios(3) has on any architecture. */
const settingsBytes = 256;
const atOnce = 0; // TCSANOW, tcsetattr(3): output that nobody reads is not waited for
const askSize = 0x5413; // TIOCGWINSZ, ioctl_tty(2)

const library = once(() => {
  const { symbols } = dlopen('libc.so.6', {
    tcgetattr: { args: ['i32', 'ptr'], returns: 'i32' },
    tcsetattr: { args: ['i32', 'i32', 'ptr'], returns: 'i32' },
    cfmakeraw: { args: ['ptr'], returns: 'void' },
    ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' },
  });
  return symbols;
});

export const localTerminal = {
  isTerminal: (descriptor: number): boolean => isatty(descriptor),

  /** null where it has none. */
  size(descriptor: number): { readonly cols: number; readonly rows: number } | null {
    const size = new Uint16Array(4);
    if (library().ioctl(descriptor, askSize, ptr(size)) !== 0) return null;
    const [rows = 0, cols = 0] = size;
    return rows > 0 && cols > 0 ? { cols, rows } : null;
  },

  /**
   * Every byte comes and goes as it is. The runtime's own raw mode is none: it goes on to make CR LF of each LF that is
   * written, which moves the cursor of full-screen programs. Answers what puts the terminal back as it was.
   */
  makeRaw(descriptor: number): () => void {
    const [before, raw] = [Buffer.alloc(settingsBytes), Buffer.alloc(settingsBytes)];
    if (library().tcgetattr(descriptor, ptr(before)) !== 0) return () => undefined;
    before.copy(raw);
    library().cfmakeraw(ptr(raw));
    library().tcsetattr(descriptor, atOnce, ptr(raw));
    return () => void library().tcsetattr(descriptor, atOnce, ptr(before));
  },
};
