/** The operation that records the desktop. */
import { z } from 'zod';
import { side } from './inputs.ts';
import { operation } from './operation.ts';
import { recordingAnswer, RecordingView } from './views.ts';

export const record = operation({
  name: 'desktop.record',
  input: z.object({
    action: z.enum(['start', 'stop', 'status']),
    save_path: z.string().min(1).optional().describe('/tmp/recordings/recording_{timestamp}.mp4 by default.'),
    fps: z.int().min(1).max(60).default(30),
    crf: z.int().min(0).max(51).default(30).describe('The quality of H.264: less is better.'),
    max_duration: z.number().gt(0).max(600).default(60).describe('Seconds.'),
    width: side.optional().describe('Of the film; by default that of the display.'),
    height: side.optional(),
  }),
  output: RecordingView,
  errors: ['unavailable', 'bad_argument', 'session_busy', 'no_space_left', 'capacity_reached'],
  async run({ desktop }, input, { signal }) {
    const { action, save_path: savePath, fps, crf, max_duration: maxSeconds, width, height } = input;
    const request = { action, fps, crf, maxSeconds, savePath: savePath ?? null };
    const size = { width: width ?? null, height: height ?? null };
    return recordingAnswer(await desktop.record({ ...request, ...size }, { signal }));
  },
});
