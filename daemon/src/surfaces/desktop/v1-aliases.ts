/** The routes of 1.x that act on the desktop, which the worker runs. */
import { z } from 'zod';
import type { RemoteDeps } from '../../http/route/remote.ts';
import type { Route, SurfaceStyle } from '../../http/route/route.ts';
import { configRoute, pixels } from './aliases.ts';
import { action, passedOn, recording } from './routes.ts';
import { V1Action } from './v1-actions.ts';
import { namedObject } from '../../operations/inputs.ts';

/** No film is longer, whatever 1.x permits. */
const maxFilmSeconds = 600;

const performed = { status: z.literal('success'), action_performed: z.string() };

const act = passedOn(action.remote, {
  name: 'desktop.action_v1',
  method: 'POST',
  path: '/v1/browser/actions',
  summary: 'Do one thing with the pointer or the keyboard',
  body: V1Action,
  read: ({ body }) => ({ ...body, include_screenshot: false }),
  data: namedObject('ActionData', performed),
  top: z.object(performed),
});

const record = passedOn(recording.remote, {
  name: 'desktop.record_v1',
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
  read: ({ body: { max_duration: seconds, save_path, width, height, ...film } }) => ({
    ...{ ...film, max_duration: Math.min(seconds, maxFilmSeconds) },
    ...{ save_path: save_path ?? undefined, width: width ?? undefined, height: height ?? undefined },
  }),
  data: namedObject('DisplayRecordResult', {
    status: z.enum(['idle', 'recording', 'stopped']),
    save_path: z.string().nullable(),
    duration: z.number(),
    file_size_bytes: z.int().nullable(),
    playable: z.boolean().nullable(),
    error: z.string().nullable(),
  }),
});

export function aliasesOfV1(style: SurfaceStyle): readonly Route<RemoteDeps>[] {
  return [
    ...[act, configRoute('/v1/browser/config', 'desktop.config_v1')].map((route) => route(style)),
    record({ ...style, isNullAbsent: false }),
  ];
}
