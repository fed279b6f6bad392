/** The routes of 1.x that act on the desktop: the daemon asks the worker's own routes for them. */
import { z } from 'zod';
import { forward, type ForwardDeps } from '../../http/route/forward.ts';
import { routesFor, type Route } from '../../http/route/route.ts';
import { configRoute, given, pixels, refusals, worker } from './aliases.ts';
import type { Refuse } from './app.ts';
import { V1Action } from './v1-actions.ts';

/** No film is longer, whatever 1.x permits. */
const maxFilmSeconds = 600;

// The worker makes the answers, so the handlers do not know their types.
const performed = { status: z.literal('success'), action_performed: z.string() };
const RecordResult: z.ZodType = z
  .object({
    status: z.enum(['idle', 'recording', 'stopped']),
    save_path: z.string().nullable(),
    duration: z.number(),
    file_size_bytes: z.int().nullable(),
    playable: z.boolean().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'DisplayRecordResult' });
const ActionData: z.ZodType = z.object(performed).meta({ id: 'ActionData' });

export function aliasesOfV1(refuse: Refuse): readonly Route<ForwardDeps>[] {
  const route = routesFor<ForwardDeps>({ isNullAbsent: true, refuse });
  const act = route({
    operation: 'desktop.action_v1',
    method: 'POST',
    path: '/v1/browser/actions',
    summary: 'Do one thing with the pointer or the keyboard',
    body: V1Action,
    data: ActionData,
    top: z.object(performed),
    errors: refusals,
    handle: ({ upstream }, { body, context }) =>
      forward(upstream, { method: 'POST', path: worker.act, body: given(body) }, context),
  });
  return [act, configRoute('/v1/browser/config', 'desktop.config_v1', refuse), recordRoute(refuse)];
}

function recordRoute(refuse: Refuse): Route<ForwardDeps> {
  return routesFor<ForwardDeps>({ refuse })({
    operation: 'desktop.record_v1',
    method: 'POST',
    path: '/v1/display/record',
    summary: 'Record the display as a film',
    body: z.object({
      action: z.enum(['start', 'stop', 'status']),
      save_path: z.string().nullish().describe('/tmp/recordings/recording_{timestamp}.mp4 otherwise.'),
      fps: z.int().gt(0).max(30).default(5),
      crf: z.int().min(0).max(51).default(28),
      max_duration: z.number().gt(0).default(maxFilmSeconds).describe('Seconds; a film ends after 600.'),
      width: pixels.nullish(),
      height: pixels.nullish(),
    }),
    data: RecordResult,
    errors: [...refusals, 'session_busy', 'no_space_left'],
    handle({ upstream }, { body, context }) {
      const film = { ...body, max_duration: Math.min(body.max_duration, maxFilmSeconds) };
      return forward(upstream, { method: 'POST', path: worker.record, body: given(film) }, context);
    },
  });
}
