/** Builds the tmux command lines that type into a session and resize it. */
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export const typedLineBytes = 512;

/** Splits the bytes into lines, each of which types a part of them. */
export function typeLines(bytes: Uint8Array): string[] {
  const lines = [];
  for (let at = 0; at < bytes.length; at += typedLineBytes) {
    lines.push(typeLine(bytes.subarray(at, at + typedLineBytes)));
  }
  return lines;
}

/** Returns how many of `count` bytes the complete lines of `typeLines` typed, given how many characters were taken. */
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

/** Characters for one byte, including the space after it. */
const typedCharacters = 3;

/**
 * Writes every byte as a hexadecimal number, because tmux passes such bytes on unchanged. The quote keeps a partial
 * line from being a complete command, so a truncated line does nothing.
 */
function typeLine(bytes: Uint8Array): string {
  const numbers = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return `if -F 1 "send-keys -H ${numbers.join(' ')}"\n`;
}

export function resizeLine({ cols, rows }: TerminalSize): string {
  return `if -F 1 "resize-window -x ${cols} -y ${rows}"\n`;
}

/** Terminates a line that was cut off anywhere and makes the line a syntax error, so that tmux runs nothing of it. */
export const cutLine = '}"}\n';
