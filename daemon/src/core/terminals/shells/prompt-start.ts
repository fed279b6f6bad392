/** What a shell prints in front of a prompt that tells of the end of a command: it is none of that command's output. */
import { constants } from 'node:os';
import type { ShellKind } from './shell-script.ts';

/** What shells put behind output that has no end of line. */
const noLineEnd: Readonly<Partial<Record<ShellKind, RegExp>>> = {
  zsh: /[%#] {2,}\r ?\r$/,
  fish: /⏎ {2,}\r⏎ \r$/,
};
/**
 * The end of the line that shows an interrupt. zsh has none where it was interrupted itself, and nothing tells these
 * cases apart: there only an empty line is taken for its own.
 */
const interruptLineEnd: Readonly<Partial<Record<ShellKind, RegExp>>> = {
  bash: /\n$/,
  posix: /\n$/,
  zsh: /(?<=^|\n)\n$/,
};
const interrupted = 128 + constants.signals.SIGINT;

/** Output up to such a prompt without it. */
export function withoutPromptStart(output: string, kind: ShellKind, code: number | null): string {
  const text = noLineEnd[kind] ? output.replace(noLineEnd[kind], '') : output;
  const lineEnd = code === interrupted ? interruptLineEnd[kind] : undefined;
  return lineEnd ? text.replace(lineEnd, '') : text;
}
