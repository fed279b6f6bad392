/** The v1 routes of the desktop: one action, its resolution and its recording. */
import { z } from 'zod';
import { route } from './app.ts';
import { DesktopAction } from './desktop-actions.ts';
import { noDesktop } from './unserved.ts';

const performed = { status: z.literal('success'), action_performed: z.string() };

export const performAction = route({
  operation: 'desktop.action_v1',
  method: 'POST',
  path: '/v1/browser/actions',
  summary: 'Do one thing with the pointer or the keyboard',
  body: DesktopAction,
  data: z.object(performed).meta({ id: 'ActionData' }),
  top: z.object(performed),
  errors: ['unavailable'],
  handle: noDesktop,
});

const pixels = z.int().gt(0);

export const setResolution = route({
  operation: 'desktop.config_v1',
  method: 'POST',
  path: '/v1/browser/config',
  summary: 'Set the resolution of the display',
  body: z.object({
    resolution: z.object({ width: pixels, height: pixels }).meta({ id: 'Resolution' }).nullish(),
  }),
  data: z.unknown(),
  errors: ['unavailable'],
  handle: noDesktop,
});

export const record = route({
  operation: 'desktop.record_v1',
  method: 'POST',
  path: '/v1/display/record',
  summary: 'Record the display as a film',
  body: z.object({
    action: z.enum(['start', 'stop', 'status']),
    save_path: z.string().nullish().describe('/tmp/recordings/recording_{timestamp}.mp4 otherwise.'),
    fps: z.int().gt(0).max(30).default(5),
    crf: z.int().min(0).max(51).default(28),
    max_duration: z.number().gt(0).default(600).describe('Seconds.'),
    width: pixels.nullish(),
    height: pixels.nullish(),
  }),
  data: z
    .object({
      status: z.enum(['idle', 'recording', 'stopped']),
      save_path: z.string().nullable(),
      duration: z.number(),
      file_size_bytes: z.int().nullable(),
    })
    .meta({ id: 'DisplayRecordResult' }),
  errors: ['unavailable'],
  handle: noDesktop,
});
