/** What the daemon writes beside a command, to know it again after a restart. */

export interface CommandNote {
  readonly id: string;
  /** Of the request that started it; the same id with another one is refused. */
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  readonly command: string;
  readonly user: string;
  readonly cwd: string;
  readonly merge: boolean;
  readonly createdMs: number;
}

export function encodeNote(note: CommandNote): string {
  return JSON.stringify(note);
}

/** Null when it is not a note of this daemon. */
export function decodeNote(text: string): CommandNote | null {
  try {
    const note = JSON.parse(text) as Partial<CommandNote> | null;
    if (typeof note?.id !== 'string' || typeof note.command !== 'string') return null;
    return {
      id: note.id,
      fingerprint: note.fingerprint ?? null,
      sessionId: note.sessionId ?? null,
      command: note.command,
      user: note.user ?? '',
      cwd: note.cwd ?? '/',
      merge: note.merge ?? false,
      createdMs: note.createdMs ?? 0,
    };
  } catch {
    return null; // Cut off in the middle by a full disk: the command behind it never started.
  }
}
