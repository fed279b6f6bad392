/** One event of a watcher. */
import type { Numbered } from '../../kit/events/event-ring.ts';
import type { EventMessage } from '../../kit/events/follow-events.ts';
import type { Change } from './change.ts';

/** Events per watcher (contract, Watch). */
export const ringSize = 10_000;

export interface WatchFacts extends Omit<Change, 'mayReplace' | 'isWhole'> {
  /** A created entry has come from elsewhere, and was not made in its place. */
  readonly isMovedIn: boolean;
  /** When the change happened, in ms since 1970. */
  readonly atMs: number;
  /** Null when the entry no longer existed at the time of the report. */
  readonly modifiedMs: number | null;
  readonly sizeBytes: number | null;
  readonly inode: number | null;
}

export type WatchEvent = WatchFacts & Numbered;

/** The root was removed, the last subscriber left, or the daemon is shutting down. */
export const watchEnds = ['gone', 'stopped', 'closing'] as const;
export type WatchEnd = (typeof watchEnds)[number];

export type WatchMessage = EventMessage<WatchFacts, WatchEnd>;
