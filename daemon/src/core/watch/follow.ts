/** Reads the events of a watcher as they come, up to its end. */
import { Deadline } from '../../kit/deadline.ts';
import type { WatchEvent } from './event-ring.ts';
import type { WatchEnd, Watcher } from './watcher.ts';

export type WatchMessage =
  | { readonly kind: 'event'; readonly event: WatchEvent }
  /** Events before this one are lost. */
  | { readonly kind: 'overflow'; readonly cursor: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'end'; readonly reason: WatchEnd; readonly cursor: number };

export interface FollowOptions {
  readonly cursor: number;
  /** After how long without an event a `silence` comes. */
  readonly silenceMs: number;
  /** The reader has gone. */
  readonly signal: AbortSignal;
  /** The daemon is going. */
  readonly closing: AbortSignal;
}

const pageSize = 100;

export async function* follow(watcher: Watcher, options: FollowOptions): AsyncGenerator<WatchMessage> {
  let { cursor } = options;
  for (;;) {
    // Looked at before the events are: what came before the end is then told before the end.
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
