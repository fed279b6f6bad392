/** Defines the stored state of a session and of its running cell, for the next daemon. */
import type { EnvironmentChanges } from '../../processes/environment.ts';
import type { SessionValues } from '../../processes/same-session.ts';
import type { CellRecord } from '../cells/cell.ts';
import type { LogPosition } from '../backends/interpreter.ts';
import type { CodeBackendName, Language } from '../language.ts';

/** Plain data that is stored in a file without conversion. */
export interface SessionRecord extends SessionValues {
  readonly language: Language;
  readonly backend: CodeBackendName;
  /** The name of the kernelspec; null when the session has no kernel. */
  readonly kernel: string | null;
  cwd: string;
  env: EnvironmentChanges;
  /** True for a single run. Only its caller knows this session. */
  readonly isSingle: boolean;
  readonly createdMs: number;
  lastUsedMs: number;
  executionCount: number;
  /** The id of the interpreter; null while there is none. */
  interpreter: string | null;
  /** Maximum idle time. If absent, the limit of the kind applies. */
  readonly idleMs?: number;
  /** True for a session that was closed without a request. The record remains for a client that comes back. */
  readonly isForgotten?: boolean;
  /** The temporary directory of the session, which is deleted with it. */
  scratch?: string;
}

/** The running cell of a session, stored for the next daemon. */
export interface RunningCell {
  readonly cell: CellRecord;
  readonly startedMs: number;
  /** Log position at which the events of the cell begin. */
  readonly from: LogPosition;
  /** Position in the input of the interpreter at which the cell ends. */
  readonly to: number;
}
