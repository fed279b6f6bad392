/** Lines of commands for a server of tmux, through which a session in it is typed into, resized and held up. */
import type { TerminalSize } from './terminal-size.ts';

/** Bytes that one line types. */
export const typedLineBytes = 512;

/**
 * Every byte as a hexadecimal number: tmux takes them as they are. The quote makes the beginning of a line no command,
 * so that one whose end was not taken does nothing.
 */
export function typeLine(bytes: Uint8Array): string {
  const numbers = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return `if -F 1 "send-keys -H ${numbers.join(' ')}"\n`;
}

export function resizeLine({ cols, rows }: TerminalSize): string {
  return `if -F 1 "resize-window -x ${cols} -y ${rows}"\n`;
}

/** Ends a line that was cut off anywhere, so that it is an error of syntax: nothing of it is done. */
export const cutLine = '}"}\n';

/** While its only client takes no output of the pane, and says that it would, tmux leaves it in the terminal. */
export const pauseLine = `if -F 1 "refresh-client -f '!no-output'"\n`;
export const resumeLine = `if -F 1 "refresh-client -f no-output"\n`;
