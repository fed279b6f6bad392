/** What the daemon knows of one command. Frames of the keeper and files of the command update the state. */
import { Notifier } from '../../kit/events/notifier.ts';
import { endFromJournal, exitedEnd, failedEnd, type ChildEnd } from './child-end.ts';
import type { JournalEnd } from './command-directory.ts';
import { statusFlag, type FailureStage, type KeeperStatus } from './keeper-protocol.ts';

/** Offsets in standard output and standard error. */
export type StreamOffsets = readonly [number, number];

export interface StdinState {
  /** Bytes of stdin that the keeper has accepted since the start of the command. */
  readonly accepted: number;
  readonly written: number;
  readonly isOpen: boolean;
}

export class ChildState {
  pid = 0;
  startedMs = 0;
  end: ChildEnd | null = null;
  streamsOpen = true;
  stdin: StdinState = { accepted: 0, written: 0, isOpen: false };
  ends: StreamOffsets = [0, 0];
  heads: StreamOffsets = [0, 0];
  /** The latest piece of stdout that arrived inside an OUTPUT frame. */
  news: { readonly from: number; readonly bytes: Uint8Array } | null = null;
  keeperPid = 0;
  /** Protocol version of the keeper; the oldest version until the keeper has reported its own. */
  keeperVersion = 1;
  readonly changes = new Notifier();

  /** True when the command has ended and no process holds its pipes. */
  get isOver(): boolean {
    return this.end !== null && !this.streamsOpen;
  }

  growTo(ends: StreamOffsets): void {
    this.ends = maxOffsets(this.ends, ends);
  }

  evictTo(heads: StreamOffsets): void {
    this.heads = maxOffsets(this.heads, heads);
  }

  applyStatus(status: KeeperStatus): void {
    this.keeperVersion = status.version;
    this.keeperPid = status.keeperPid;
    this.pid = status.pid;
    this.startedMs = status.startedMs;
    this.growTo(status.end);
    this.evictTo(status.head);
    this.streamsOpen = (status.flags & statusFlag.closed) === 0;
    this.stdin = {
      accepted: status.stdinAccepted,
      written: status.stdinWritten,
      isOpen: (status.flags & statusFlag.stdinOpen) !== 0,
    };
    if ((status.flags & statusFlag.exited) !== 0) this.end ??= exitedEnd(status);
  }

  /** Records the end from the journal of a keeper that has gone. */
  settle(journal: JournalEnd | null, storedEnds: StreamOffsets, lastWriteMs: () => number): void {
    this.pid = journal?.pid ?? this.pid;
    this.startedMs = journal?.startedMs ?? this.startedMs;
    // If this daemon has talked to the keeper, the keeper was lost now. Otherwise the files show when it was last
    // alive.
    const lastMs = this.keeperPid > 0 ? Date.now() : lastWriteMs();
    this.end ??= endFromJournal(journal, Math.max(lastMs, this.startedMs));
    // A journal without its last line is older than the logs.
    const journaled = journal?.isClosed ? journal.end : maxOffsets(journal?.end ?? [0, 0], storedEnds);
    this.ends = this.end.kind === 'lost' ? storedEnds : maxOffsets(this.ends, journaled);
    this.evictTo(journal?.head ?? [0, 0]);
    const accepted = Math.max(this.stdin.accepted, journal?.stdinAccepted ?? 0);
    this.stdin = { ...this.stdin, accepted };
    this.#closeStreams();
  }

  /** Records that the command never ran. */
  fail(stage: FailureStage, errno: number): void {
    this.end = failedEnd(stage, errno, Date.now());
    this.streamsOpen = false;
    this.changes.notify();
  }

  /** Ends all waits for a command that this daemon forgets. */
  forget(): void {
    this.end ??= { kind: 'lost', atMs: Date.now() };
    this.#closeStreams();
  }

  /** The last STATUS may have left stdin open. A pending write would then wait for an answer that never comes. */
  closeInput(): void {
    this.stdin = { ...this.stdin, isOpen: false };
  }

  #closeStreams(): void {
    this.streamsOpen = false;
    this.closeInput();
    this.changes.notify();
  }
}

function maxOffsets(known: StreamOffsets, seen: StreamOffsets): StreamOffsets {
  return [Math.max(known[0], seen[0]), Math.max(known[1], seen[1])];
}
