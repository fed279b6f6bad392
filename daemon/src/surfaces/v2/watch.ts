/** The v2 routes of the watch plane. */
import { z } from 'zod';
import { defaultExclude } from '../../core/watch/filter.ts';
import { followEvents, pollEvents } from '../../kit/events/follow-events.ts';
import type { WatchMessage } from '../../core/watch/watch-event.ts';
import type { Watcher } from '../../core/watch/watcher.ts';
import { Answer } from '../../kit/answer.ts';
import { eventId, resumePoint, SseStream, type ResumePoint, type SseEvent } from '../../http/stream/sse.ts';
import { Deadline } from '../../kit/deadline.ts';
import { checkGlob, placeErrors } from '../../operations/watch/inputs.ts';
import { watcherRecord, watchEvent } from '../../operations/watch/views.ts';
import { route } from './app.ts';
import { clientId, systemText } from '../../operations/inputs.ts';
import { WatchEnded, WatcherRecord, WatchEvent, WatchOverflow, WatchPage, WatchStarted } from './watch-views.ts';

const maxPatterns = 256;
const pattern = systemText
  .min(1)
  .max(1024)
  .refine((glob) => !glob.split('/').includes('..'), 'must not lead out of the watched path')
  .superRefine(checkGlob);
const WatcherPath = z.object({ id: clientId });
const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const createWatcher = route({
  operation: 'watch.create',
  method: 'POST',
  path: '/v2/watch',
  summary: 'Watch a directory or a file',
  body: z.object({
    path: systemText.min(1).describe('Absolute, from ~, or below the workspace.'),
    recursive: z.boolean().default(true).describe('Everything below it, also what comes later.'),
    exclude: z
      .array(pattern)
      .max(maxPatterns)
      .default([...defaultExclude])
      .describe(
        'Globs of paths that are not reported, and of directories that are not entered. Replaces the defaults.',
      ),
    include_patterns: z
      .array(pattern)
      .max(maxPatterns)
      .default([])
      .describe('Globs of the only paths that are reported. An empty list reports all.'),
    debounce: z.int().min(50).max(5000).default(300).describe('Milliseconds in which changes are merged.'),
  }),
  data: WatcherRecord.extend({
    reused: z.boolean().describe('True when an identical request returned this watcher before.'),
    initial_cursor: cursor.describe('The current cursor: later events have a higher number.'),
  }),
  errors: placeErrors,
  async handle({ watchers }, { body }) {
    const { watcher, isReused } = await watchers.create({
      path: body.path,
      recursive: body.recursive,
      exclude: body.exclude,
      includePatterns: body.include_patterns,
      debounceMs: body.debounce,
      user: null,
    });
    const data = { ...watcherRecord(watcher), reused: isReused, initial_cursor: watcher.ring.cursor };
    return new Answer(data, {
      message: isReused ? 'The watcher was there already' : 'Watching',
      hint: `GET /v2/watch/${watcher.id}/poll?cursor=${data.initial_cursor}&timeout=30 waits for events; DELETE /v2/watch/${watcher.id} ends it.`,
    });
  },
});

export const listWatchers = route({
  operation: 'watch.list',
  method: 'GET',
  path: '/v2/watch',
  summary: 'List watchers in the order of their creation',
  data: z.array(WatcherRecord),
  handle: ({ watchers }) => watchers.list().map(watcherRecord),
});

export const pollWatcher = route({
  operation: 'watch.poll',
  method: 'GET',
  path: '/v2/watch/{id}/poll',
  summary: 'Read the events after a cursor, or wait for them',
  params: WatcherPath,
  query: z.object({
    cursor: cursor.describe('The cursor of the last answer; 0 is everything that is kept.'),
    limit: z.int().min(1).max(1000).default(100).describe('Events at most.'),
    timeout: z.number().min(0).max(60).default(0).describe('Seconds to wait for an event.'),
  }),
  data: WatchPage,
  errors: ['watcher_not_found'],
  async handle({ watchers, closing }, { params, query, context }) {
    const watcher = watchers.get(params.id);
    using deadline = new Deadline(null, context.signal, closing);
    const page = await pollEvents(watcher, {
      cursor: query.cursor,
      limit: query.limit,
      waitMs: query.timeout * 1000,
      signal: deadline.signal,
    });
    watchers.get(params.id); // Throws if the watcher was deleted during the wait.
    const data = {
      events: page.events.map((event) => watchEvent(watcher, event)),
      cursor: page.cursor,
      overflow: page.isOverflow,
      status: watcher.status,
    };
    return new Answer(data, { hint: nextStep(watcher, page.isOverflow) });
  },
});

const heartbeatMs = 15_000;

export const streamWatcher = route({
  operation: 'watch.events',
  method: 'GET',
  path: '/v2/watch/{id}/events',
  summary: 'Follow the events as Server-Sent Events; Last-Event-ID resumes an earlier stream',
  params: WatcherPath,
  query: z.object({ cursor: cursor.describe('Without Last-Event-ID: begin after this one.') }),
  events: {
    watch_started: WatchStarted,
    file_change: WatchEvent,
    overflow: WatchOverflow,
    watch_ended: WatchEnded,
  },
  errors: ['watcher_not_found', 'capacity_reached'],
  handle({ watchers, closing }, { params, query, context }) {
    const watcher = watchers.get(params.id);
    const start = resumePoint(context.headers, watcher.id) ?? { seq: query.cursor, isForeign: false };
    return new SseStream((signal) => streamEvents(watcher, start, closing, signal));
  },
});

export const stopWatcher = route({
  operation: 'watch.stop',
  method: 'DELETE',
  path: '/v2/watch/{id}',
  summary: 'Release a watcher, which ends with its last subscriber',
  params: WatcherPath,
  data: z.object({
    watcher_id: z.string(),
    subscribers: z.int().describe('How many are left; at 0 it has ended.'),
  }),
  errors: ['watcher_not_found'],
  handle({ watchers }, { params }) {
    return { watcher_id: params.id, subscribers: watchers.release(params.id) };
  },
});

async function* streamEvents(
  watcher: Watcher,
  { seq: from, isForeign }: ResumePoint,
  closing: AbortSignal,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  yield { event: 'watch_started', data: { ...watcherRecord(watcher), cursor: from } };
  if (isForeign) yield { event: 'overflow', data: { watcher_id: watcher.id, cursor: from } };
  for await (const message of followEvents(watcher, { cursor: from, silenceMs: heartbeatMs, signal, closing })) {
    yield sseEvent(watcher, message);
  }
}

function sseEvent(watcher: Watcher, message: WatchMessage): SseEvent {
  switch (message.kind) {
    case 'silence':
      return { comment: 'heartbeat' };
    case 'event': {
      const id = eventId(watcher.id, message.event.seq);
      return { event: 'file_change', id, data: watchEvent(watcher, message.event) };
    }
    case 'overflow': {
      const { cursor: at } = message;
      return { event: 'overflow', id: eventId(watcher.id, at), data: { watcher_id: watcher.id, cursor: at } };
    }
    case 'end': {
      const { reason, cursor: at } = message;
      return { event: 'watch_ended', data: { watcher_id: watcher.id, reason, cursor: at } };
    }
  }
}

function nextStep(watcher: Watcher, isOverflow: boolean): string | null {
  if (isOverflow)
    return 'Something before these events was lost: list the tree anew, apply them, and poll on from this cursor.';
  return watcher.status === 'gone' ? 'What was watched has gone; POST /v2/watch makes a watcher of a new one.' : null;
}
