/** Finds out which process group receives the keys of a terminal. */
import { readFileSync } from 'node:fs';
import type { Sandbox } from './sandbox.ts';

/**
 * Whether keys and signals reach a program with this command line.
 *
 * Before the shell has executed the program, the shell may swallow both. tmux has processes with the same names, and
 * no key reaches them.
 */
export function hasKeys(sandbox: Sandbox, wanted: string): boolean {
  const found = sandbox.processes().filter(({ command }) => command === wanted);
  return found.some(({ pid }) => {
    const [, , group, , , foreground] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return group === foreground;
  });
}
