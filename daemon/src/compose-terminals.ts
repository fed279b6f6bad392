/** Constructs the plane of terminals. */
import type { Config } from './config.ts';
import type { Accounts } from './core/identity/accounts.ts';
import { imageEnvironment } from './core/identity/environment.ts';
import { terminalBackend } from './core/capabilities/terminal-backend.ts';
import { Executions } from './core/terminals/executions.ts';
import type { ExecNote } from './core/terminals/exec-record.ts';
import { TerminalLauncher } from './core/terminals/launcher.ts';
import { NativeBackend } from './core/terminals/native-backend.ts';
import { Screens } from './core/terminals/screen.ts';
import { decodeNote } from './core/terminals/note.ts';
import type { TerminalRecord } from './core/terminals/terminal.ts';
import { Terminals } from './core/terminals/terminals.ts';
import { TmuxBackend } from './core/terminals/tmux-backend.ts';
import type { TypedNote } from './core/terminals/tmux-process.ts';
import { CoreError } from './kit/errors.ts';
import type { Logger } from './kit/logger.ts';
import { openEmulator } from './platform/emulator.ts';
import { isDirectory } from './platform/is-directory.ts';
import { findProgram, isExecutableFile } from './platform/programs.ts';
import { processStates } from './platform/process-states.ts';
import type { Child, Spawn } from './platform/spawn.ts';
import { StateFile } from './platform/state-file.ts';
import { NoteFiles } from './platform/note-files.ts';
import { ScriptDirectory } from './platform/script-directory.ts';
import { terminalDevices } from './platform/terminal-device.ts';
import { terminalJobs } from './platform/terminal-job.ts';
import { openWorker } from './platform/workers.ts';
import { terminalModes } from './platform/terminal-mode.ts';

export interface TerminalsInputs {
  readonly accounts: Accounts;
  readonly config: Config;
  /** Of the image, with what was taken from the daemon's own. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly runtimeDirectory: string;
  readonly spawn: Spawn;
  /** Bytes of output kept of each stream of a command. */
  readonly streamKeptBytes: number;
}

export function composeTerminals({ accounts, config, logger, spawn, ...inputs }: TerminalsInputs): Terminals {
  const onFault = (what: string, error: unknown) => logger.error(what, { reason: String(error) });
  const image = imageEnvironment(inputs.environment);
  const path = image['PATH'] ?? '';
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
  const backends = () => {
    const chosen = terminalBackend(config.terminalBackend, find);
    if (chosen.name === null) throw noBackend(chosen.missing);
    // A tmux that is there and cannot be used keeps nobody from having a terminal who did not ask for it.
    if (chosen.name === 'tmux') return config.terminalBackend === 'auto' ? [tmux, native] : [tmux];
    return [native];
  };
  const launcher = new TerminalLauncher({
    accounts,
    backends,
    environment: image,
    findProgram,
    isProgram: isExecutableFile,
    capBytes: Math.ceil(inputs.streamKeptBytes / 4),
  });
  const executions = new Executions({
    accounts,
    platform: process.platform,
    jobs: terminalJobs,
    modes: terminalModes,
    now: Date.now,
    scripts: new ScriptDirectory(`${inputs.runtimeDirectory}/scripts-directory`),
    notes: new NoteFiles<ExecNote>(`${inputs.runtimeDirectory}/execs`, onFault),
    onFault,
  });
  return new Terminals({
    launcher,
    adopt: (child) => (decodeNote(child.directory.note() ?? '')?.backend === 'tmux' ? tmux : native).adopt(child),
    store: new StateFile<readonly TerminalRecord[]>(`${inputs.runtimeDirectory}/terminals.json`, [], onFault),
    executions,
    isDirectory,
    platform: process.platform,
    jobs: terminalJobs,
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
    hint: `Install ${missing} in the image, or start with SVC_SHELL_BACKEND=native.`,
  });
}
