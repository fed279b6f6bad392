/** What the daemon writes beside the shell of a session, to know it again after a restart. */

export interface ShellNote {
  /** Of the session. */
  readonly terminalId: string;
  /** Where its output begins in that of the session. */
  readonly from: number;
}

export function encodeNote({ terminalId, from }: ShellNote): string {
  return JSON.stringify({ terminal: { terminalId, from } });
}

/** Null when it is not the note of a terminal. */
export function decodeNote(text: string): ShellNote | null {
  try {
    const { terminal } = JSON.parse(text) as { terminal?: Partial<ShellNote> };
    if (typeof terminal?.terminalId !== 'string' || typeof terminal.from !== 'number') return null;
    return { terminalId: terminal.terminalId, from: terminal.from };
  } catch {
    return null; // Cut off in the middle by a full disk: the shell behind it never started.
  }
}
