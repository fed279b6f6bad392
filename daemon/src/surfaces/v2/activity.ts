/** The v2 route of the feed of activity. */
import { z } from 'zod';
import { activityKinds, type Activity } from '../../core/ops/activity.ts';
import type { Numbered } from '../../kit/events/event-ring.ts';
import { followEvents, pollEvents, type EventMessage } from '../../kit/events/follow-events.ts';
import { Deadline } from '../../kit/deadline.ts';
import { mapEach } from '../../kit/async-sequences.ts';
import { NdjsonStream } from '../../http/stream/ndjson.ts';
import { route } from './app.ts';
import { namedObject } from '../../operations/inputs.ts';

const heartbeatMs = 15_000;
const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const ActivityEntry = namedObject('ActivityEntry', {
  seq: cursor.describe('Grows with each entry, also over the daemons of a sandbox.'),
  kind: z.enum(activityKinds).describe('started and ended: a command; called: a call was answered.'),
  at: z.string().describe('RFC 3339, UTC.'),
  operation: z.string().describe('As in the OpenAPI document, such as files.write.'),
  subject: z.string().nullable().describe('An id, a path, or the address of a page without its query.'),
  command: z.string().optional().describe('At most 300 characters.'),
  tool: z.string().optional().describe('The MCP tool; upstream for a tool of another server.'),
  account: z.string().optional(),
  request_id: z.string().optional(),
  outcome: z.string().optional().describe('The status of a command that ended; ok, failed or cancelled of a call.'),
  exit_code: z.int().nullable().optional(),
  duration_ms: z.number().optional(),
});

const ActivityLine = z
  .discriminatedUnion('type', [
    ActivityEntry.extend({ type: z.literal('activity') }),
    z.object({ type: z.literal('gap'), cursor: cursor.describe('Entries before it are no longer known.') }),
    z.object({ type: z.literal('heartbeat'), cursor }),
    z.object({ type: z.literal('closing'), cursor }),
  ])
  .meta({ id: 'ActivityLine' });

export const readActivity = route({
  operation: 'operations.activity',
  method: 'GET',
  path: '/v2/activity',
  summary: 'Read what has happened: commands, and calls that change something, at once or as a stream',
  query: z.object({
    cursor: cursor.optional().describe('Begin after it; without it, with the newest entries.'),
    limit: z.int().min(1).max(1000).default(100).describe('Entries at most, or of a stream those before now.'),
    timeout: z.number().min(0).max(60).default(0).describe('Seconds to wait for an entry.'),
    stream: z.boolean().default(false).describe('Stream NDJSON, as Accept: application/x-ndjson does.'),
  }),
  data: namedObject('ActivityPage', {
    entries: z.array(ActivityEntry).describe('The oldest first.'),
    cursor: cursor.describe('Pass it to the next call.'),
    gap: z.boolean().describe('Entries after the given cursor are no longer known.'),
  }),
  lines: ActivityLine,
  errors: ['capacity_reached'],
  async handle({ activity, closing }, { query, context }) {
    const from = query.cursor ?? activity.before(query.limit);
    if (query.stream || context.headers.get('accept')?.includes('application/x-ndjson') === true) {
      return new NdjsonStream((signal) =>
        mapEach(
          followEvents<Activity, never>(activity, { cursor: from, silenceMs: heartbeatMs, signal, closing }),
          activityLine,
        ),
      );
    }
    using deadline = new Deadline(null, context.signal, closing);
    const page = await pollEvents<Activity>(activity, {
      cursor: from,
      limit: query.limit,
      waitMs: query.timeout * 1000,
      signal: deadline.signal,
    });
    return { entries: page.events.map(activityEntry), cursor: page.cursor, gap: page.isOverflow };
  },
});

function activityEntry({
  atMs,
  requestId,
  exitCode,
  ms,
  ...entry
}: Activity & Numbered): z.input<typeof ActivityEntry> {
  return {
    ...entry,
    at: new Date(atMs).toISOString(),
    request_id: requestId,
    exit_code: exitCode,
    duration_ms: ms === undefined ? undefined : Math.round(ms * 100) / 100,
  };
}

function activityLine(message: EventMessage<Activity, never>): z.input<typeof ActivityLine> {
  switch (message.kind) {
    case 'event':
      return { type: 'activity', ...activityEntry(message.event) };
    case 'overflow':
      return { type: 'gap', cursor: message.cursor };
    case 'silence':
      return { type: 'heartbeat', cursor: message.cursor };
    case 'end':
      return { type: 'closing', cursor: message.cursor };
  }
}
