/** What a person reads for a terminal: its name, or its id where it has none. */
import type { TerminalSession } from '../../../clients/typescript/src/index.ts';

export function nameOf({ name, session_id: id }: TerminalSession): string {
  return name ?? id;
}
