/** The note that the daemon stores beside a command to recognise the command after a restart. */
import type { ProcessNote } from '../../platform/process/spawn.ts';

export interface CommandNote {
  readonly id: string;
  /** Fingerprint of the request. The same id with another fingerprint is refused. */
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  readonly command: string;
  /** Arguments of a program that was started without a shell. */
  readonly args: readonly string[];
  readonly user: string;
  readonly cwd: string;
  readonly merge: boolean;
  /** It runs at a terminal, whose output is stdout. */
  readonly hasTerminal: boolean;
  /** A text by which a client finds its command. */
  readonly label: string | null;
  readonly createdMs: number;
}

const defaults = {
  ...{ fingerprint: null, sessionId: null, args: [], user: '', cwd: '/', merge: false, createdMs: 0 },
  ...{ hasTerminal: false, label: null },
};

/** Notes of earlier daemons lack some fields. */
export function readNote(note: ProcessNote): CommandNote {
  return { ...defaults, ...(note as Pick<CommandNote, 'id' | 'command'>) };
}
