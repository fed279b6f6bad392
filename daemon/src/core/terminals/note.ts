/** What the daemon writes beside the shell of a session, to know it again after a restart. */
import { backendNames, type BackendName } from './shell-process.ts';

export interface ShellNote {
  /** Of the session. */
  readonly terminalId: string;
  /** Where its output begins in that of the session. */
  readonly from: number;
  /** What holds its terminal. */
  readonly backend: BackendName;
}

export function encodeNote({ terminalId, from, backend }: ShellNote): string {
  return JSON.stringify({ terminal: { terminalId, from, backend } });
}

/** Null when it is not the note of a terminal. */
export function decodeNote(text: string): ShellNote | null {
  try {
    const { terminal } = JSON.parse(text) as { terminal?: Partial<ShellNote> };
    if (typeof terminal?.terminalId !== 'string' || typeof terminal.from !== 'number') return null;
    const backend = backendNames.find((name) => name === terminal.backend) ?? 'native';
    return { terminalId: terminal.terminalId, from: terminal.from, backend };
  } catch {
    return null; // Cut off in the middle by a full disk: the shell behind it never started.
  }
}
