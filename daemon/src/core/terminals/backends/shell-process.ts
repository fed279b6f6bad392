/** Defines a live shell process and the backend that holds its terminal: a keeper or a tmux server. */
import type { BackendName } from './names.ts';
import type { Child, ChildEnd, KeeperSpawn, SpawnRequest } from '../../../platform/process/spawn.ts';
import { launch } from '../../processes/launch.ts';
import { systemRefusal } from '../../processes/refusal.ts';
import type { ShellNote } from '../session/note.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export interface ShellLaunch extends Pick<SpawnRequest, 'argv' | 'env' | 'cwd' | 'account' | 'capBytes'> {
  /** Name of the session, safe as a file name. */
  readonly name: string;
  /** Stored beside the process and returned after a restart of the daemon. */
  readonly note: ShellNote;
  readonly size: TerminalSize;
}

export interface ShellProcess {
  readonly backend: BackendName;
  /** Standard output of the child is what the terminal showed, byte for byte. */
  readonly child: Child;
  /** Pid of the shell itself; null if unknown. */
  readonly pid: number | null;
  /** How the shell ended; null while it is alive. Not the end of the process that holds the terminal. */
  readonly end: ChildEnd | null;
  /** Bytes typed so far; null if unknown. */
  readonly typedBytes: number | null;
  /** Types bytes after earlier input. Returns how many were taken before the signal aborted. */
  type(bytes: Uint8Array, signal: AbortSignal): Promise<number>;
  resize(size: TerminalSize): void;
  /** Stops reading the terminal. Programs that write to it block once the kernel buffer is full. */
  pause(): void;
  resume(): void;
  /** Processes started by the shell that are still alive. */
  startedPids(): Promise<readonly number[]>;
}

export interface ShellBackend {
  readonly name: BackendName;
  start(launch: ShellLaunch): Promise<ShellProcess>;
  /** Adopts a process that an earlier daemon started. */
  adopt(child: Child): ShellProcess;
}

/** Time between SIGTERM and SIGKILL when the daemon ends. */
const graceMs = 3000;

/**
 * The time until SIGKILL for the process that holds a terminal. The script around tmux removes the directory of its
 * socket when it is asked to end, and a busy machine is slow to run it.
 */
export function graceOf(backend: BackendName, wantedMs: number): number {
  return backend === 'tmux' ? Math.max(wantedMs, graceMs) : wantedMs;
}

/** Starts the process that holds the terminal of a session, for any backend. */
export function startHolder(
  spawn: KeeperSpawn,
  { note, env, cwd, account, capBytes }: ShellLaunch,
  program: Pick<SpawnRequest, 'argv' | 'stdin'>,
): Promise<Child> {
  const owned = { plane: 'terminals', note: { terminal: note } } as const;
  const request = { ...owned, env, cwd, account, capBytes, graceMs, ...program };
  return launch(spawn, request, (error) => systemRefusal(error, 'a terminal'));
}
