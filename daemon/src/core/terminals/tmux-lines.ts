/** Lines of commands for a server of tmux, through which a session in it is typed into and resized. */
import type { TerminalSize } from './terminal-size.ts';

/** Bytes that one line types. */
export const typedLineBytes = 512;

/** The bytes in lines of their own, each of which types a part of them. */
export function typeLines(bytes: Uint8Array): string[] {
  const lines = [];
  for (let at = 0; at < bytes.length; at += typedLineBytes) {
    lines.push(typeLine(bytes.subarray(at, at + typedLineBytes)));
  }
  return lines;
}

/** How many of so many typed bytes are in the whole lines among the first characters of what `typeLines` makes of them. */
export function typedWithin(characters: number, count: number): number {
  const overhead = typeLine(Uint8Array.of(0)).length - typedCharacters;
  let [typed, rest] = [0, characters];
  while (typed < count) {
    const next = Math.min(typedLineBytes, count - typed);
    rest -= next * typedCharacters + overhead;
    if (rest < 0) break;
    typed += next;
  }
  return typed;
}

/** Of a byte and the blank behind it. */
const typedCharacters = 3;

/**
 * Every byte as a hexadecimal number: tmux takes them as they are. The quote makes the beginning of a line no command,
 * so that one whose end was not taken does nothing.
 */
function typeLine(bytes: Uint8Array): string {
  const numbers = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return `if -F 1 "send-keys -H ${numbers.join(' ')}"\n`;
}

export function resizeLine({ cols, rows }: TerminalSize): string {
  return `if -F 1 "resize-window -x ${cols} -y ${rows}"\n`;
}

/** Ends a line that was cut off anywhere, so that it is an error of syntax: nothing of it is done. */
export const cutLine = '}"}\n';
