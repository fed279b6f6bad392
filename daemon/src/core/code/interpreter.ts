/** What runs the cells of one session, whatever it is: an interpreter of the image, or a kernel. */
import type { ChildEnd } from '../../platform/spawn.ts';
import type { CellEvent } from './events.ts';
import type { CellRecord } from './cell.ts';
import type { CodeBackendName } from './language.ts';

/** A cell that is about to be sent. */
export interface CellOnItsWay {
  /** What is taken up to there has it as a whole. */
  readonly end: number;
  /** Rejects when it cannot be taken. */
  send(): Promise<void>;
}

/** A place in the log of one process. */
export interface LogPosition {
  /** The id of the process. */
  readonly log: string;
  readonly offset: number;
}

/** Of one that is no process of this machine: keepers neither hand it over nor end it. */
export interface Elsewhere {
  /** Another daemon goes on with it; answers the id by which it is found there. */
  letGo(): string;
  takeBack(): void;
}

export interface Interpreter {
  readonly id: string;
  readonly backend: CodeBackendName;
  /** Of the language: `3.12.1`. */
  readonly version: string;
  /** null where it runs elsewhere, or has ended. */
  readonly pid: number | null;
  /** null while it lives. */
  readonly end: ChildEnd | null;
  /** Its own code has asked it to end: it takes no more cells, and its end is nobody's death. */
  readonly isLeaving: boolean;
  /** True once another daemon owns it: it is only listened to. */
  readonly isLetGo: boolean;
  /** Resolves when it has said something, has ended, or the signal aborts. */
  changed(signal?: AbortSignal): Promise<void>;
  /** Hears what it says of cells from now on, also of those that have ended. */
  listen(onCell: (cell: string, event: CellEvent) => void): void;
  /** Hands a cell over; it is run behind those before. */
  handOver(cell: CellRecord): CellOnItsWay;
  /** Whether a cell with this end has arrived, as a later daemon sees it. */
  hasTaken(end: number): boolean;
  /** As Ctrl-C. */
  interrupt(): Promise<void>;
  /** How long after one interrupt the next may come: it can be missed, and it can hit what tells of the first. */
  readonly interruptAgainMs: number;
  /** Ends it with everything that it has started, and forgets it. */
  close(): Promise<void>;
  readonly elsewhere?: Elsewhere;
  /** From there on what it says is read anew after a restart of the daemon. */
  readonly position: LogPosition;
}
