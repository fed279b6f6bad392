/** The routes that act on the desktop: one action, and a batch of them. */
import { z } from 'zod';
import { Answer } from '../../http/route/route.ts';
import { actionName, readAction, WireAction } from './actions.ts';
import { desktopRoute } from './app.ts';
import { includeScreenshot, scaledTo, wholeScreen } from './inputs.ts';
import { ActionResult, base64, pictureInfo, PictureView, pictureView } from './views.ts';

export const actOnce = desktopRoute({
  operation: 'desktop.act',
  method: 'POST',
  path: '/v2/computer/actions',
  summary: 'Do one thing with the pointer, the keyboard, a window or a node',
  query: includeScreenshot,
  body: WireAction.and(z.object(scaledTo)),
  data: ActionResult,
  top: ActionResult,
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async handle({ desktop }, { query, body, context }) {
    const coordinates = body.scale_to ?? null;
    const result = await desktop.perform(readAction(body), {
      signal: context.signal,
      coordinates,
      screenshot: query.include_screenshot ? wholeScreen(coordinates) : null,
    });
    const { output } = result;
    const data: z.input<typeof ActionResult> = {
      status: 'success',
      action_performed: actionName(body),
      ...(output?.kind === 'cursor' && output.position),
      ...(output?.kind === 'picture' && {
        screenshot: base64(output.picture),
        screenshot_info: pictureInfo(output.picture),
      }),
      ...pictureView(result),
    };
    return new Answer(data, { top: data });
  },
});

const maxActions = 50;

export const actInBatch = desktopRoute({
  operation: 'desktop.batch',
  method: 'POST',
  path: '/v2/computer/actions/batch',
  summary: 'Do several things in order; nothing else touches the display meanwhile',
  body: z.object({
    actions: z.array(WireAction).min(1).max(maxActions).describe('Waits take at most 20 s in all.'),
    include_screenshot: z.boolean().default(false),
    ...scaledTo,
  }),
  data: z
    .object({
      performed: z.int(),
      failed_index: z.int().nullable(),
      error: z.string().nullable(),
      status: z.enum(['success', 'failed']),
      screenshot: z.string().nullable().describe('The picture after the last action, in base64.'),
      screenshot_info: PictureView.optional(),
      screenshot_error: z.string().optional(),
    })
    .meta({ id: 'DesktopBatchResult' }),
  errors: ['unavailable', 'bad_argument', 'capacity_reached'],
  async handle({ desktop }, { body, context }) {
    const coordinates = body.scale_to ?? null;
    const result = await desktop.batch(body.actions.map(readAction), {
      signal: context.signal,
      coordinates,
      screenshot: body.include_screenshot ? wholeScreen(coordinates) : null,
    });
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
