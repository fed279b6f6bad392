/** The v1 routes of watchers, which answer in `data` and beside it, because 1.x clients read either. */
import { z } from 'zod';
import { eventTypes } from '../../core/watch/change.ts';
import { defaultExclude } from '../../core/watch/filter.ts';
import { followEvents, pollEvents } from '../../kit/events/follow-events.ts';
import type { WatchMessage } from '../../core/watch/watch-event.ts';
import type { Watcher } from '../../core/watch/watcher.ts';
import { Answer } from '../../kit/answer.ts';
import { eventId, resumePoint, SseStream, type ResumePoint, type SseEvent } from '../../http/stream/sse.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { checkGlob, placeErrors } from '../../operations/watch/inputs.ts';
import { watchEvent } from '../../operations/watch/views.ts';
import { route } from './app.ts';
import { bodyWithPath, pathOf } from './file-inputs.ts';
import { WatcherRecord, WatchEvent, watcherRecord } from './watch-views.ts';
import { namedObject } from '../../operations/inputs.ts';

const WatcherPath = z.object({ watcher_id: z.string() });
const pattern = z.string().superRefine((glob, context) => {
  // An empty pattern matches nothing, as in 1.x.
  if (glob !== '') checkGlob(glob, context);
});

const Created = WatcherRecord.extend({
  reused: z.boolean().describe('True when an identical request returned this watcher before.'),
  initial_cursor: z.int().describe('The current cursor.'),
});

export const createWatch = route({
  operation: 'watch.create_v1',
  method: 'POST',
  path: '/v1/file/watch',
  summary: 'Watch a directory or a file',
  body: bodyWithPath('path', {
    recursive: z.boolean().default(true),
    exclude: z
      .array(pattern)
      .default([...defaultExclude])
      .describe('Globs of paths that are not reported.'),
    debounce: z.int().min(50).max(5000).default(300).describe('Milliseconds.'),
    include_patterns: z
      .array(pattern)
      .default([])
      .describe('Globs of the only paths that are reported; an empty list reports all.'),
  }),
  data: Created,
  top: Created,
  errors: placeErrors,
  async handle({ watchers }, { body }) {
    const { debounce: debounceMs, exclude, include_patterns: includePatterns, recursive } = body;
    const request = { path: pathOf(body), recursive, exclude, includePatterns, debounceMs, user: null };
    const { watcher, isReused } = await watchers.create(request);
    const record = { ...watcherRecord(watcher), reused: isReused, initial_cursor: watcher.ring.cursor };
    return new Answer(record, { top: record });
  },
});

const Watchers = z.object({ watchers: z.array(WatcherRecord) });

export const listWatches = route({
  operation: 'watch.list_v1',
  method: 'GET',
  path: '/v1/file/watch',
  summary: 'List watchers',
  data: Watchers,
  top: Watchers,
  handle({ watchers }) {
    const list = { watchers: watchers.list().map(watcherRecord) };
    return new Answer(list, { top: list });
  },
});

const Page = z.object({
  events: z.array(WatchEvent),
  cursor: z.int().describe('For the next poll.'),
  overflow: z.boolean().describe('Earlier events are lost: list the tree again.'),
});

export const pollWatch = route({
  operation: 'watch.poll_v1',
  method: 'POST',
  path: '/v1/file/watch/{watcher_id}/poll',
  summary: 'Read the events after a cursor, or wait for them',
  params: WatcherPath,
  body: namedObject('PollRequest', {
    cursor: z.int().min(0).default(0).describe('The cursor of the last answer.'),
    limit: z.int().min(1).max(1000).default(100),
    timeout: z.int().min(0).max(60).default(0).describe('Seconds to wait for an event.'),
    since: z.int().optional().describe('The older name of cursor.'),
  }),
  data: Page,
  top: Page,
  errors: ['watcher_not_found'],
  async handle({ watchers, closing }, { params, body, context }) {
    const watcher = watchers.get(params.watcher_id);
    const from = Math.max(body.cursor, body.since ?? 0);
    using deadline = new Deadline(null, context.signal, closing);
    const { cursor, events, isOverflow } = await pollEvents(watcher, {
      cursor: from,
      limit: body.limit,
      waitMs: body.timeout * 1000,
      signal: deadline.signal,
    });
    watchers.get(params.watcher_id); // Throws if the watcher was deleted during the wait.
    const page = { events: events.map((event) => watchEvent(watcher, event)), cursor, overflow: isOverflow };
    return new Answer(page, { top: page });
  },
});

const Waited = z.object({ event: WatchEvent });

export const waitForFile = route({
  operation: 'watch.wait_v1',
  method: 'POST',
  path: '/v1/file/watch/wait',
  summary: 'Wait for an event of one file; an existing file counts as created',
  body: bodyWithPath('path', {
    timeout: z.int().min(1).max(300).default(30).describe('Seconds; then 503.'),
    event_types: z.array(z.enum(eventTypes)).default([...eventTypes]),
  }),
  data: Waited,
  top: Waited,
  errors: placeErrors,
  async handle({ watchers, closing }, { body, context }) {
    using deadline = new Deadline(null, context.signal, closing);
    const found = await watchers.wait({
      path: pathOf(body),
      types: new Set(body.event_types),
      withinMs: body.timeout * 1000,
      signal: deadline.signal,
    });
    if (!found) throw timedOut(body.timeout);
    const data = { event: watchEvent(found.watcher, found.event) };
    return new Answer(data, { top: data });
  },
});

function timedOut(seconds: number): CoreError {
  return new CoreError('unavailable', 'timed out waiting for file event', {
    hint: `Nothing of that kind happened within ${seconds} s; wait again, or longer (timeout).`,
  });
}

const heartbeatMs = 15_000;

export const streamWatch = route({
  operation: 'watch.events_v1',
  method: 'GET',
  path: '/v1/file/watch/{watcher_id}/events',
  summary: 'Follow the events as Server-Sent Events: watch_started, file_change and overflow',
  params: WatcherPath,
  events: z.string(),
  errors: ['watcher_not_found', 'capacity_reached'],
  handle({ watchers, closing }, { params, context }) {
    const watcher = watchers.get(params.watcher_id);
    const start = resumePoint(context.headers, watcher.id) ?? { seq: 0, isForeign: false };
    return new SseStream((signal) => streamEvents(watcher, start, closing, signal));
  },
});

export const stopWatch = route({
  operation: 'watch.stop_v1',
  method: 'DELETE',
  path: '/v1/file/watch/{watcher_id}',
  summary: 'Release a watcher',
  params: WatcherPath,
  data: z.object({ watcher_id: z.string() }),
  top: z.object({ watcher_id: z.string() }),
  errors: ['watcher_not_found'],
  handle({ watchers }, { params }) {
    watchers.release(params.watcher_id);
    return new Answer(params, { top: params });
  },
});

async function* streamEvents(
  watcher: Watcher,
  { seq: from, isForeign }: ResumePoint,
  closing: AbortSignal,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  yield { event: 'watch_started', data: { ...watcherRecord(watcher), cursor: from } };
  if (isForeign) yield overflow(watcher, from);
  for await (const message of followEvents(watcher, { cursor: from, silenceMs: heartbeatMs, signal, closing })) {
    // 1.x has no event for the end: the stream just ends.
    if (message.kind !== 'end') yield sseEvent(watcher, message);
  }
}

function sseEvent(watcher: Watcher, message: Exclude<WatchMessage, { kind: 'end' }>): SseEvent {
  if (message.kind === 'silence') return { comment: 'heartbeat' };
  if (message.kind === 'overflow') return overflow(watcher, message.cursor);
  const id = eventId(watcher.id, message.event.seq);
  return { event: 'file_change', id, data: watchEvent(watcher, message.event) };
}

function overflow(watcher: Watcher, cursor: number): SseEvent {
  return { event: 'overflow', id: eventId(watcher.id, cursor), data: { watcher_id: watcher.id, cursor } };
}
