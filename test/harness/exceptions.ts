/** Lists the tests that a root or a short run leaves out, each with its reason, which the skipped test prints. */
import { isShort } from './counts.ts';
import { longTests } from './long-tests.ts';
import { rootKind, type RootKind } from './root.ts';

const hasNoBash = 'the root has no bash';
const isStatic = 'its programs are static, so the loader variables have no effect';

const hasNoFullScreen = 'the root has no full-screen programs';
const hasNoPython = 'the root has no Python';
const hasNoNode = 'the root has no Node, so a language is missing';
const hasNoOtherShell = 'the root has no zsh and no fish';

/** Tests that need shells, full-screen programs or interpreters that a bare root lacks. */
const notInBareRoots: Readonly<Record<string, string>> = {
  'HTTP-CODE a session that runs another cell': hasNoPython,
  'OPS-DOCTOR doctor finds ipykernel behind the shim of a version manager, and names the use of ffmpeg': hasNoPython,
  'OPS-2 a slow Python is reported as present within seconds, and its backend once it has answered': hasNoNode,
  'OPS-2 a Python that is slow at every probe is described by its previous probe, however old': hasNoPython,
  'RUN-RESTART processes whose notes name no plane, as those of an earlier version, are recovered': hasNoPython,
  'TERM-10 vim looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts':
    hasNoFullScreen,
  'TERM-10 less looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts':
    hasNoFullScreen,
  'TERM-10 top looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts':
    hasNoFullScreen,
  'TERM-10 htop looks as in a local terminal, cell by cell, across resizes, cut connections and daemon restarts':
    hasNoFullScreen,
  'TERM-9 vim ends in the same screen as in a reference terminal after a storm of sizes': hasNoFullScreen,
  'TERM-9 less ends in the same screen as in a reference terminal after a storm of sizes': hasNoFullScreen,
  'TERM-6 a full-screen program keeps running until a client ends it': hasNoFullScreen,
  'TERM-6 a shell that is replaced by another one, or loses its prompt, is recognized again': hasNoOtherShell,
  'TERM-6 fish runs commands in one shell and reports output, exit code and state': hasNoOtherShell,
  'TERM-6 fish continues after a syntax error, and is replaced after its exit': hasNoOtherShell,
  'TERM-13 zsh whose start-up files hang starts without them': hasNoOtherShell,
  'TERM-13 fish whose start-up files hang starts without them': hasNoOtherShell,
  'TERM-6 a shell with changed options still runs commands and reports their codes': hasNoOtherShell,
};

const exceptions: Readonly<Record<RootKind, Readonly<Record<string, string>>>> = {
  machine: {},
  pid1: {
    'V2CMD-LOST V2CMD-KILL a lost command ends after it started, and kill reaches the processes that it left':
      'the test compares reported pids with those outside the container, which differ',
    'PROMISE-4 a signal reaches every generation of a tree, and survivors are named':
      'the test compares reported pids with those outside the container, which differ',
    'TERM-6 a command that was recorded and never typed has ended after a restart':
      'the test stops a reported pid, which is another process outside the container',
  },
  musl: {
    ...notInBareRoots,
    'TERM-13 dash whose start-up files hang starts without them':
      'the root has bash in place of dash, and bash does not read the file that ENV names',
    'V2CMD-LOADER variables that steer a loader never run code as root, and are passed to commands': isStatic,
    'V2CMD-HOSTILE variables in a request cannot run code as root either': isStatic,
    'V2CMD-TIMEOUT V2CMD-HARD V2CMD-WAIT waits last as long as requested, whatever jumps the clock makes': isStatic,
  },
  busybox: {
    ...notInBareRoots,
    'V2CMD-LOADER variables that steer a loader never run code as root, and are passed to commands': isStatic,
    'V2CMD-HOSTILE variables in a request cannot run code as root either': isStatic,
    'V2CMD-TIMEOUT V2CMD-HARD V2CMD-WAIT waits last as long as requested, whatever jumps the clock makes': isStatic,
    'V2CMD-SHELL bash and sh run as requested': hasNoBash,
    'V2CMD-LARGE a command of more than 128 KiB runs in a shell, as any account, and leaves no file': hasNoBash,
    'TERM-6 a shell that exits between two commands is replaced, and no command is lost with it': hasNoBash,
    'TERM-6 a caller that does not want to wait is not refused for a prompt that is still to come': hasNoBash,
    'TERM-13 bash whose start-up files hang starts without them': hasNoBash,
    'TERM-13 V1SHELL-4 a 1.x command is answered although the start-up files hang, and the hint gives the reason':
      hasNoBash,
    'TERM-13 typed input is not mistaken for hanging start-up files, and slow files are awaited': hasNoBash,
    'TERM-13 start-up files that take longer than five seconds are awaited': hasNoBash,
    'TERM-13 RUN-FLAGS a setting limits the start-up files, and each answer says when they were given up': hasNoBash,
    'PROMISE-4 a signal reaches every generation of a tree, and survivors are named': hasNoBash,
    'PROMISE-7 a fork bomb takes every free process, and the daemon answers until the bomb is ended': hasNoBash,
    'PROMISE-7 kill -9 -1 by the default account ends its own commands, each reported as killed, and spares the daemon':
      hasNoBash,
  },
};

/** The reason why this run leaves the test out; null when it runs the test. */
export function exceptionHere(title: string): string | null {
  if (isShort && longTests.has(title)) return 'it is long; npm test -- --all runs it';
  return exceptions[rootKind][title] ?? null;
}

/** Every title that is left out somewhere. */
export const exceptionTitles = [
  ...new Set([...Object.values(exceptions).flatMap((table) => Object.keys(table)), ...longTests]),
];
