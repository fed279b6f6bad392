/** Constructs the objects that run terminals. */
import type { Shared } from './shared.ts';
import { terminalBackend } from '../core/capabilities/terminal-backend.ts';
import type { ExecNote } from '../core/terminals/exec/record.ts';
import { TerminalLauncher } from '../core/terminals/session/launcher.ts';
import { NativeBackend } from '../core/terminals/backends/native.ts';
import { Screens } from '../core/terminals/screen/screen.ts';
import type { TerminalRecord } from '../core/terminals/session/terminal.ts';
import { Terminals } from '../core/terminals/session/terminals.ts';
import { TmuxBackend } from '../core/terminals/backends/tmux.ts';
import type { TypedNote } from '../core/terminals/backends/tmux-process.ts';
import { CoreError } from '../kit/errors.ts';
import { openEmulator } from '../platform/terminal/emulator.ts';
import { isDirectory } from '../platform/files/is-directory.ts';
import { findProgram, isExecutableFile } from '../platform/process/programs.ts';
import { processStates } from '../platform/process/process-states.ts';
import type { Child } from '../platform/process/spawn.ts';
import { RecordStore } from '../platform/stores/record-store.ts';
import { NoteFiles } from '../platform/stores/note-files.ts';
import { terminalDevices } from '../platform/terminal/terminal-device.ts';
import { terminalJobs } from '../platform/terminal/terminal-job.ts';
import { openWorker } from '../platform/host/workers.ts';
import { terminalModes } from '../platform/terminal/terminal-mode.ts';

export function composeTerminals(shared: Shared): Terminals {
  const { accounts, commandEnvironment, config, limits, onFault, ownership, runtimeDirectory, scripts, spawn } = shared;
  const path = commandEnvironment['PATH'] ?? '';
  const find = (program: string) => findProgram(program, path);
  const native = new NativeBackend(spawn);
  const notes = ({ directory }: Child) => {
    const files = new NoteFiles<TypedNote>(directory.path, onFault);
    return {
      load: () => files.load('typed'),
      save: (note: TypedNote) => files.save('typed', note),
      remove: () => files.remove('typed'),
    };
  };
  const tmux = new TmuxBackend({ spawn, find, path, devices: terminalDevices, states: processStates, notes });
  const backend = () => {
    const chosen = terminalBackend(config.terminalBackend, find);
    if (chosen.name === null) throw noBackend(chosen.missing);
    return chosen.name === 'tmux' ? tmux : native;
  };
  const launcher = new TerminalLauncher({
    accounts,
    backend,
    environment: commandEnvironment,
    findProgram,
    isProgram: isExecutableFile,
    capBytes: Math.ceil(limits.capBytes / 4),
  });
  return new Terminals({
    launcher,
    adopt: (child, name) => (name === 'tmux' ? tmux : native).adopt(child),
    store: new RecordStore<TerminalRecord>({
      path: `${runtimeDirectory}/terminals.json`,
      what: 'terminal sessions',
      ...{ onFault, ownership },
    }),
    ownership,
    accounts,
    scripts,
    notes: new NoteFiles<ExecNote>(`${runtimeDirectory}/execs`, onFault),
    isDirectory,
    platform: process.platform,
    jobs: terminalJobs,
    startUpMs: config.shellStartupSeconds * 1000,
    modes: terminalModes,
    maxTerminals: config.maxTerminals,
    idleMs: config.terminalIdleSeconds * 1000,
    now: Date.now,
    onFault,
  });
}

export function composeScreens(): Screens {
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  return new Screens({ openEmulator, openWorker, pause, nowMs: () => performance.now() });
}

function noBackend(missing: string): CoreError {
  return new CoreError('unavailable', `${missing} is not on PATH, and terminals are to be in tmux`, {
    isRetryable: false,
    hint: `Install ${missing} in the image, or start with SVC_SHELL_BACKEND=native.`,
  });
}
