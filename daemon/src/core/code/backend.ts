/** A way to run cells of a language: what it needs, how its interpreters start, and how they are found again. */
import type { Child } from '../../platform/spawn.ts';
import type { Interpreter } from './interpreter.ts';
import type { CodeBackendName, Language } from './language.ts';
import type { InterpreterNote } from './note.ts';
import type { RunningCell, SessionRecord } from './session.ts';

export interface CodeBackend {
  readonly name: CodeBackendName;
  readonly language: Language;
  /**
   * Throws `unavailable`, which says what was looked for and how to get it; `bad_argument` for a `cwd` or an account.
   * One that is no process of this machine tells its id at once: nobody else knows that there is one.
   */
  start(record: SessionRecord, onStarted?: (id: string) => void): Promise<Interpreter>;
  /** Takes over what an earlier daemon started, with what runs in it; null where it is no use any more. */
  adopt(note: InterpreterNote, child: Child, running: RunningCell | null): Promise<Interpreter | null>;
  /** The same of one that is no process of this machine. */
  reconnect?(id: string, record: SessionRecord, running: RunningCell | null): Promise<Interpreter | null>;
}
