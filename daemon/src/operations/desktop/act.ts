/** The operations that act on the desktop: one action, and a batch of them. */
import { z } from 'zod';
import { Answer } from '../../kit/answer.ts';
import { actionName, readAction, WireAction } from './actions.ts';
import { includeScreenshot, scaledTo, wholeScreen } from './inputs.ts';
import { operation } from './operation.ts';
import { ActionResult, base64, pictureInfo, PictureView, pictureView } from './views.ts';
import { namedObject } from '../inputs.ts';

export const ActionBody = WireAction.and(z.object(scaledTo));

export const act = operation({
  name: 'desktop.act',
  input: ActionBody.and(includeScreenshot),
  output: ActionResult,
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async run({ desktop }, input, { signal }) {
    const coordinates = input.scale_to ?? null;
    const screenshot = input.include_screenshot ? wholeScreen(coordinates) : null;
    const result = await desktop.perform(readAction(input), { signal, coordinates, screenshot });
    const { output } = result;
    return {
      status: 'success' as const,
      action_performed: actionName(input),
      ...(output?.kind === 'cursor' && output.position),
      ...(output?.kind === 'picture' && {
        screenshot: base64(output.picture),
        screenshot_info: pictureInfo(output.picture),
      }),
      ...pictureView(result),
    };
  },
});

const maxActions = 50;

export const actInBatch = operation({
  name: 'desktop.batch',
  input: z.object({
    actions: z.array(WireAction).min(1).max(maxActions).describe('Waits take at most 20 s in all.'),
    include_screenshot: z.boolean().default(false),
    ...scaledTo,
  }),
  output: namedObject('DesktopBatchResult', {
    performed: z.int(),
    failed_index: z.int().nullable(),
    error: z.string().nullable(),
    status: z.enum(['success', 'failed']),
    screenshot: z.string().nullable().describe('The picture after the last action, in base64.'),
    screenshot_info: PictureView.optional(),
    screenshot_error: z.string().optional(),
  }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async run({ desktop }, input, { signal }) {
    const coordinates = input.scale_to ?? null;
    const screenshot = input.include_screenshot ? wholeScreen(coordinates) : null;
    const result = await desktop.batch(input.actions.map(readAction), { signal, coordinates, screenshot });
    const { performed: count, failedIndex, error } = result;
    const hasFailed = failedIndex !== null;
    const data = {
      ...{ performed: count, failed_index: failedIndex, error, screenshot: null },
      status: hasFailed ? ('failed' as const) : ('success' as const),
      ...pictureView(result),
    };
    return new Answer(data, { isFailure: hasFailed, ...(error !== null && { message: error }) });
  },
});
