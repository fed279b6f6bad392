/** Whose keys are those of a terminal, as the system tells. */
import { readFileSync } from 'node:fs';
import type { Sandbox } from './sandbox.ts';

/**
 * Whether what is typed, and a signal, reaches a program with this command line. Before it has become that program it is
 * still a shell, which may swallow both; and tmux has processes of the same names, which no key reaches.
 */
export function hasKeys(sandbox: Sandbox, wanted: string): boolean {
  const found = sandbox.processes().filter(({ command }) => command === wanted);
  return found.some(({ pid }) => {
    const [, , group, , , foreground] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    return group === foreground;
  });
}
