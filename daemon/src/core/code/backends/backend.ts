/** Defines a backend: how to start interpreters for a language and how to recover them. */
import type { Child } from '../../../platform/process/spawn.ts';
import type { Interpreter } from './interpreter.ts';
import type { CodeBackendName, Language } from '../language.ts';
import type { InterpreterNote } from './note.ts';
import type { RunningCell, SessionRecord } from '../sessions/record.ts';

export interface CodeBackend {
  readonly name: CodeBackendName;
  readonly language: Language;
  /**
   * Throws `unavailable` with the missing program and how to install it, or `bad_argument` for an invalid `cwd` or
   * account. An interpreter on another machine reports its id through `onStarted` at once, because no keeper knows the
   * interpreter.
   */
  start(record: SessionRecord, onStarted?: (id: string) => void): Promise<Interpreter>;
  /** Takes over an interpreter of an earlier daemon, with its running cell. Null when it is not usable any more. */
  adopt(note: InterpreterNote, child: Child, running: RunningCell | null): Promise<Interpreter | null>;
  /** The same for an interpreter that is not a process on this machine. */
  reconnect?(id: string, record: SessionRecord, running: RunningCell | null): Promise<Interpreter | null>;
}
