/** Tests of what a root does not have by its nature: each with the reason, and printed as skipped with it. */
import { rootKind, type RootKind } from './root.ts';

const hasNoBash = 'it has no bash';
const isStatic = 'its programs are static, so no loader runs a library in them';

const hasNoFullScreen = 'it has no full-screen program';
const hasNoOtherShell = 'it has no zsh and no fish';

/** Shells and programs of the screen that a bare root does not have. */
const notInBareRoots: Readonly<Record<string, string>> = {
  'TERM-10 vim looks as in a terminal here, cell by cell, whatever becomes of the size, the connection and the daemon':
    hasNoFullScreen,
  'TERM-10 less looks as in a terminal here, cell by cell, whatever becomes of the size, the connection and the daemon':
    hasNoFullScreen,
  'TERM-10 top looks as in a terminal here, cell by cell, whatever becomes of the size, the connection and the daemon':
    hasNoFullScreen,
  'TERM-10 htop looks as in a terminal here, cell by cell, whatever becomes of the size, the connection and the daemon':
    hasNoFullScreen,
  'TERM-9 vim ends in the same screen as in a reference terminal after a storm of sizes': hasNoFullScreen,
  'TERM-9 less ends in the same screen as in a reference terminal after a storm of sizes': hasNoFullScreen,
  'TERM-6 a full-screen program runs on until somebody ends it': hasNoFullScreen,
  'TERM-6 a shell that becomes another one, or loses its prompt, is known again': hasNoOtherShell,
  'TERM-6 fish runs commands in one shell: output, exit code and state are those of a shell': hasNoOtherShell,
  'TERM-6 fish survives what is no command, and its own end': hasNoOtherShell,
  'TERM-6 a shell whose ways were changed still runs commands, and tells their codes': hasNoOtherShell,
};

const exceptions: Readonly<Record<RootKind, Readonly<Record<string, string>>>> = {
  machine: {},
  pid1: {
    'PROMISE-4 a signal reaches every generation of a tree, and whoever lives on is named':
      'it compares pids that were told with those outside, which are others',
    'TERM-6 a command that was written down and never typed is over when the next daemon looks':
      'it stops a pid that was told, which is another one outside',
  },
  musl: {
    ...notInBareRoots,
    'V2CMD-LOADER variables that steer a loader never run code as root, and are given to commands': isStatic,
    'V2CMD-HOSTILE variables in a request cannot run code as root either': isStatic,
    'V2CMD-TIMEOUT V2CMD-HARD V2CMD-WAIT waits last as long as they should, wherever the clock jumps meanwhile':
      isStatic,
  },
  busybox: {
    ...notInBareRoots,
    'V2CMD-LOADER variables that steer a loader never run code as root, and are given to commands': isStatic,
    'V2CMD-HOSTILE variables in a request cannot run code as root either': isStatic,
    'V2CMD-TIMEOUT V2CMD-HARD V2CMD-WAIT waits last as long as they should, wherever the clock jumps meanwhile':
      isStatic,
    'V2CMD-SHELL bash and sh are the shells asked for': hasNoBash,
    'TERM-6 a shell that ends between two commands is replaced, and no command is lost with it': hasNoBash,
    'TERM-6 who does not want to wait is not refused for a prompt that is still to come': hasNoBash,
    'PROMISE-4 a signal reaches every generation of a tree, and whoever lives on is named': hasNoBash,
    'PROMISE-7 a fork bomb takes every process there is, and the daemon answers until it is ended': hasNoBash,
    'PROMISE-7 kill -9 -1 by the default account ends its own commands, each told as killed, and nothing of the daemon':
      hasNoBash,
  },
};

/** Why the test has no meaning in the root under test; null when it has. */
export function exceptionHere(title: string): string | null {
  return exceptions[rootKind][title] ?? null;
}

/** Every title of the table. */
export const exceptionTitles = [...new Set(Object.values(exceptions).flatMap((table) => Object.keys(table)))];
