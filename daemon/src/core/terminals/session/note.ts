/** The note that the daemon stores beside a shell to recognise the shell after a restart. */
import type { ProcessNote } from '../../../platform/process/spawn.ts';
import type { BackendName } from '../backends/names.ts';

export interface ShellNote {
  readonly terminalId: string;
  /** The offset of the shell's output in the session log. */
  readonly from: number;
  /** The backend that holds the terminal. */
  readonly backend: BackendName;
}

/** Notes of earlier daemons name no backend. */
export function readNote(note: ProcessNote): ShellNote {
  return { backend: 'native', ...(note as { readonly terminal: Omit<ShellNote, 'backend'> }).terminal };
}
