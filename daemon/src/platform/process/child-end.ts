/** How a command ended, as its keeper or its journal reports it. */
import { getSystemErrorMap } from 'node:util';
import type { JournalEnd, JournalExit } from './command-directory.ts';
import type { EndCause, FailureStage } from './keeper-protocol.ts';

export type ChildEnd =
  | {
      readonly kind: 'exited';
      /** null after a death by signal. */
      readonly exitCode: number | null;
      readonly signal: number;
      readonly cause: EndCause;
      readonly oomKilled: boolean | null;
      readonly atMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly stage: FailureStage;
      readonly errno: number;
      readonly errnoName: string;
      readonly message: string;
      readonly atMs: number;
    }
  | { readonly kind: 'lost'; readonly atMs: number };

export function exitedEnd({ exitCode, signal, cause, oomKilled, exitedMs }: JournalExit): ChildEnd {
  return { kind: 'exited', exitCode: signal === 0 ? exitCode : null, signal, cause, oomKilled, atMs: exitedMs };
}

export function failedEnd(stage: FailureStage, errno: number, atMs: number): ChildEnd {
  const [errnoName, message] = getSystemErrorMap().get(-errno) ?? [`E${errno}`, 'unknown error'];
  return { kind: 'failed', stage, errno, errnoName, message, atMs };
}

/** The end of a command whose keeper reports nothing more. A journal without an end means that the keeper was lost. */
export function endFromJournal(journal: JournalEnd | null, lastWriteMs: number): ChildEnd {
  if (journal?.exit) return exitedEnd(journal.exit);
  if (journal?.failure) return failedEnd(journal.failure.stage, journal.failure.errno, lastWriteMs);
  return { kind: 'lost', atMs: lastWriteMs };
}
