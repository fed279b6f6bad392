/** Handles shell start-up files, and starts a shell without them if they do not finish. */
import { basename } from 'node:path';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import { shellKind, type ShellKind } from '../exec/shells/shell-script.ts';

const startUpSkipped =
  'The start-up files of the shell did not finish in time (SVC_SHELL_STARTUP_SECONDS); this shell runs without them.';
const shellReplaced =
  'The shell before has ended, and a new one has started: its variables and its directory are not those of the one before.';

interface StartedTerminal {
  readonly record: { readonly skipsStartUp?: boolean };
  takeReplaced(): boolean;
}

/** What the caller of a command has to know of its shell; null where there is nothing. */
export function shellNews(terminal: StartedTerminal): string | null {
  const news = [terminal.takeReplaced() && shellReplaced, terminal.record.skipsStartUp === true && startUpSkipped];
  return news.filter((sentence) => sentence !== false).join(' ') || null;
}

const bareArguments: Readonly<Record<ShellKind, readonly string[]>> = {
  bash: ['--norc', '--noprofile'],
  fish: ['--no-config'],
  posix: [],
  zsh: ['-f'],
};

/** Returns the arguments that make a shell skip its start-up files. */
export function argumentsWithoutStartUp(shell: string): readonly string[] {
  const kind = shellKind(basename(shell));
  return kind === null ? [] : bareArguments[kind];
}

/** dash and similar shells read the file that ENV names, and have no argument to skip it. */
export const environmentWithoutStartUp = { ENV: null } as const;

/** The notice that the next shell of a session prints first. */
export function restartNotice(end: ChildEnd | null, isWithoutStartUp: boolean): string {
  if (isWithoutStartUp) return `[the start-up files did not finish; this shell runs without them]`;
  const how =
    end?.kind !== 'exited'
      ? 'was lost'
      : end.exitCode === null
        ? `was ended by signal ${end.signal}`
        : `ended with exit code ${end.exitCode}`;
  return `[the shell ${how}; this is a new one]`;
}
