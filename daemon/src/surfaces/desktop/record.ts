/** The route that records the desktop. */
import { z } from 'zod';
import { desktopRoute } from './app.ts';
import { side } from './inputs.ts';
import { recordingAnswer, RecordingView } from './views.ts';

export const record = desktopRoute({
  operation: 'desktop.record',
  method: 'POST',
  path: '/v2/computer/record',
  summary: 'Record the display as a film',
  body: z.object({
    action: z.enum(['start', 'stop', 'status']),
    save_path: z.string().min(1).optional().describe('/tmp/recordings/recording_{timestamp}.mp4 by default.'),
    fps: z.int().min(1).max(60).default(30),
    crf: z.int().min(0).max(51).default(30).describe('The quality of H.264: less is better.'),
    max_duration: z.number().gt(0).max(600).default(60).describe('Seconds.'),
    width: side.optional().describe('Of the film; by default that of the display.'),
    height: side.optional(),
  }),
  data: RecordingView,
  errors: ['unavailable', 'bad_argument', 'session_busy', 'no_space_left', 'capacity_reached'],
  async handle({ desktop }, { body, context }) {
    const { action, save_path: savePath, fps, crf, max_duration: maxSeconds, width, height } = body;
    const request = { action, fps, crf, maxSeconds, savePath: savePath ?? null };
    const size = { width: width ?? null, height: height ?? null };
    return recordingAnswer(await desktop.record({ ...request, ...size }, { signal: context.signal }));
  },
});
