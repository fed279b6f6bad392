/** A shell at a terminal while it lives, whatever holds the terminal: a keeper itself, or a tmux server in one. */
import type { Child, ChildEnd, SpawnRequest } from '../../platform/spawn.ts';
import type { TerminalSize } from './terminal-size.ts';

export const backendNames = ['native', 'tmux'] as const;
export type BackendName = (typeof backendNames)[number];

/** How the shell of a session is started. */
export interface ShellLaunch {
  /** Of the session; safe in the name of a file. */
  readonly name: string;
  /** Kept beside the process, and given back after a restart of the daemon. */
  readonly note: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly account: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | null;
  readonly size: TerminalSize;
  /** Bytes of output that are kept. */
  readonly capBytes: number;
}

export interface ShellProcess {
  readonly backend: BackendName;
  /** Its standard output is what the terminal showed, byte by byte. */
  readonly child: Child;
  /** Of the shell itself; null where it is not known. */
  readonly pid: number | null;
  /** null while it lives. Of the shell, not of what holds its terminal. */
  readonly end: ChildEnd | null;
  /** Bytes that were ever typed and taken; null where that is not known. */
  readonly typedBytes: number | null;
  /** Types these bytes behind what was typed before; answers how many of them were taken when the wait was over. */
  type(bytes: Uint8Array, signal: AbortSignal): Promise<number>;
  resize(size: TerminalSize): void;
  /** Whoever writes to the terminal waits, once the kernel holds no more. */
  pause(): void;
  resume(): void;
}

export interface ShellBackend {
  readonly name: BackendName;
  start(launch: ShellLaunch): Promise<ShellProcess>;
  /** Takes over a process that an earlier daemon started. */
  adopt(child: Child): ShellProcess;
}

/** Between SIGTERM and SIGKILL when the daemon ends. */
const graceMs = 3000;

/** What a keeper is asked for, whoever holds the terminal. */
export function spawnRequest(
  { note, env, cwd, account, capBytes }: ShellLaunch,
  { argv, stdin }: Pick<SpawnRequest, 'argv' | 'stdin'>,
): SpawnRequest {
  return {
    note,
    input: null,
    argv,
    env,
    cwd,
    account,
    stdin,
    merge: false,
    isAwaited: false,
    capBytes,
    hardTimeoutMs: null,
    graceMs,
    limits: [],
  };
}
