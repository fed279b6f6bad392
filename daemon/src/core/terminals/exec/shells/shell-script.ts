/** Builds the script through which a shell runs a command, with marks around the command. */
import type { ScriptParts } from './script-parts.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { posixScript } from './posix.ts';
import { zshScript } from './zsh.ts';

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

export function shellKind(program: string): ShellKind | null {
  return kinds[program.replace(/^-/, '')] ?? null;
}

export function shellScript(kind: ShellKind, parts: ScriptParts): string {
  return scripts[kind](parts);
}

/** fish runs the command outside the script, because `exit` inside a script does not end fish. */
export function readScriptLine(kind: ShellKind, path: string): string {
  const word = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", kind === 'fish' ? "\\'" : "'\\''")}'`;
  return kind === 'fish' ? ` source ${word}; eval $__sbx_c; __sbx_d` : ` . ${word}`;
}

/**
 * The keys that type the line. ^E and ^U first discard a half-typed line. The leading space gives ^U something to
 * discard, or the bell would ring.
 */
export function keysFor(line: string): string {
  return ` \x05\x15${line}\r`;
}
