/** How a command gets into a shell: a script that the shell reads into itself, with marks around the command. */
import type { ExecDirectory } from '../exec-record.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { posixScript } from './posix.ts';
import { zshScript } from './zsh.ts';

export interface ScriptParts {
  readonly command: string;
  /** What is shown of it: no control characters but ends of lines. */
  readonly shown: string;
  /** Of its marks. */
  readonly token: string;
  /** Where it is to run; null is where the shell is. */
  readonly directory: ExecDirectory | null;
  /** Columns of the terminal, and of the line that is typed behind the prompt: what is taken back may have several rows. */
  readonly cols: number;
  readonly typedCols: number;
}

export type ShellKind = 'bash' | 'fish' | 'posix' | 'zsh';

const scripts: Readonly<Record<ShellKind, (parts: ScriptParts) => string>> = {
  bash: bashScript,
  fish: fishScript,
  posix: posixScript,
  zsh: zshScript,
};

const kinds: Readonly<Record<string, ShellKind>> = {
  bash: 'bash',
  'bash-static': 'bash',
  rbash: 'bash',
  zsh: 'zsh',
  'zsh-static': 'zsh',
  fish: 'fish',
  sh: 'posix',
  dash: 'posix',
  ash: 'posix',
  busybox: 'posix',
};

/** Null for a program that is no shell known here. */
export function shellKind(program: string): ShellKind | null {
  return kinds[program.replace(/^-/, '')] ?? null;
}

export function shellScript(kind: ShellKind, parts: ScriptParts): string {
  return scripts[kind](parts);
}

/** What is typed to have a script read. fish ends with `exit` only outside of a script. */
export function readScriptLine(kind: ShellKind, path: string): string {
  const word = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", kind === 'fish' ? "\\'" : "'\\''")}'`;
  return kind === 'fish' ? ` source ${word}; eval $__sbx_c; __sbx_d` : ` . ${word}`;
}

/** The keys for it: a line that somebody has half typed is given up. The first space is, too, or a bell would ring for nothing. */
export function keysFor(line: string): string {
  return ` \x05\x15${line}\r`;
}
