/** The terminal of this process: makes it raw, restores it and reads its size. */
import { dlopen, ptr } from 'bun:ffi';
import { once } from '../../kit/once.ts';

/** Larger than a termios(3) on any architecture. */
const settingsBytes = 256;
const atOnce = 0; // TCSANOW, tcsetattr(3): does not wait for output that no program reads
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
  isTerminal: (descriptor: number): boolean => process.getBuiltinModule('node:tty').isatty(descriptor),

  /** null when the terminal has no size. */
  size(descriptor: number): { readonly cols: number; readonly rows: number } | null {
    const size = new Uint16Array(4);
    if (library().ioctl(descriptor, askSize, ptr(size)) !== 0) return null;
    const [rows = 0, cols = 0] = size;
    return rows > 0 && cols > 0 ? { cols, rows } : null;
  },

  /**
   * Makes every byte pass unchanged, and returns a function that restores the terminal.
   * The runtime's own raw mode does not suffice: it still turns each written LF into CR LF, which moves the cursor of
   * full-screen programs.
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
