/** Streams the events of a watcher until its end. */
import { Deadline } from '../../kit/deadline.ts';
import type { WatchEvent } from './event-ring.ts';
import type { WatchEnd, Watcher } from './watcher.ts';

export type WatchMessage =
  | { readonly kind: 'event'; readonly event: WatchEvent }
  /** Events before this cursor are lost. */
  | { readonly kind: 'overflow'; readonly cursor: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'end'; readonly reason: WatchEnd; readonly cursor: number };

export interface FollowOptions {
  readonly cursor: number;
  /** Time without events after which the stream yields `silence`. */
  readonly silenceMs: number;
  /** Aborts when the reader disconnects. */
  readonly signal: AbortSignal;
  /** Aborts when the daemon shuts down. */
  readonly closing: AbortSignal;
}

const pageSize = 100;

export async function* follow(watcher: Watcher, options: FollowOptions): AsyncGenerator<WatchMessage> {
  let { cursor } = options;
  for (;;) {
    // Read before the events, so that all events before the end are reported before the end.
    const reason = options.closing.aborted ? 'closing' : watcher.end;
    const page = watcher.ring.after(cursor, pageSize);
    cursor = page.cursor;
    if (page.isOverflow) yield { kind: 'overflow', cursor: (page.events[0]?.seq ?? cursor + 1) - 1 };
    for (const event of page.events) yield { kind: 'event', event };
    if (options.signal.aborted) return;
    if (page.events.length > 0 || page.isOverflow) continue;
    if (reason) {
      yield { kind: 'end', reason, cursor };
      return;
    }
    using silence = new Deadline(options.silenceMs, options.signal, options.closing);
    await watcher.nextEvent(silence.signal);
    const isSilent = silence.passed && !options.signal.aborted && !options.closing.aborted;
    if (isSilent) yield { kind: 'silence' };
  }
}
