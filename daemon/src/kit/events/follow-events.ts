/** Reads the events of a source: page by page, or as a stream until its end. */
import { Deadline } from '../deadline.ts';
import type { EventPage, Numbered } from './event-ring.ts';

export interface EventSource<E extends object, End> {
  /** Why no more events will come; null while more events are possible. */
  readonly end: End | null;
  /** At most `limit` events after `cursor`. */
  after(cursor: number, limit: number): EventPage<E & Numbered>;
  /** Resolves when there may be new events, or when the signal aborts. */
  nextEvent(signal: AbortSignal): Promise<void>;
}

export type EventMessage<E extends object, End> =
  | { readonly kind: 'event'; readonly event: E & Numbered }
  /** Events before this cursor are lost. */
  | { readonly kind: 'overflow'; readonly cursor: number }
  | { readonly kind: 'silence'; readonly cursor: number }
  | { readonly kind: 'end'; readonly reason: End | 'closing'; readonly cursor: number };

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

export interface PollOptions {
  readonly cursor: number;
  /** Events at most. */
  readonly limit: number;
  /** Time to wait for an event at most. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Returns the events after `cursor`, as soon as there is one or the wait is over. */
export async function pollEvents<E extends object>(
  source: EventSource<E, unknown>,
  { cursor, limit, waitMs, signal }: PollOptions,
): Promise<EventPage<E & Numbered>> {
  using deadline = new Deadline(waitMs, signal);
  for (;;) {
    const page = source.after(cursor, limit);
    const isOver = source.end !== null || deadline.passed || waitMs === 0;
    if (page.events.length > 0 || page.isOverflow || isOver) return page;
    await source.nextEvent(deadline.signal);
  }
}

export async function* followEvents<E extends object, End>(
  source: EventSource<E, End>,
  options: FollowOptions,
): AsyncGenerator<EventMessage<E, End>> {
  let { cursor } = options;
  for (;;) {
    // Read before the events, so that all events before the end are reported before the end.
    const reason = options.closing.aborted ? 'closing' : source.end;
    const page = source.after(cursor, pageSize);
    cursor = page.cursor;
    if (page.isOverflow) yield { kind: 'overflow', cursor: (page.events[0]?.seq ?? cursor + 1) - 1 };
    for (const event of page.events) yield { kind: 'event', event };
    if (options.signal.aborted) return;
    if (page.events.length > 0 || page.isOverflow) continue;
    if (reason !== null) {
      yield { kind: 'end', reason, cursor };
      return;
    }
    using silence = new Deadline(options.silenceMs, options.signal, options.closing);
    await source.nextEvent(silence.signal);
    const isSilent = silence.passed && !options.signal.aborted && !options.closing.aborted;
    if (isSilent) yield { kind: 'silence', cursor };
  }
}
