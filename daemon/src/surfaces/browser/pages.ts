/** The routes of a page: navigation, scripts and pictures. */
import { z } from 'zod';
import { evaluate } from '../../core/browser/evaluate.ts';
import { loadStates } from '../../core/browser/load-watch.ts';
import { historySteps, navigate } from '../../core/browser/navigate.ts';
import { takeScreenshot } from '../../core/browser/screenshot.ts';
import { RawReply } from '../../http/stream/raw.ts';
import { Answer } from '../../kit/answer.ts';
import { browserRoute } from './app.ts';
import { needingOneOf, pageCall, pageOptions, tab, timeout } from './inputs.ts';
import { effects, effectsView } from './views.ts';
import { namedObject } from '../../operations/inputs.ts';

export const navigatePage = browserRoute({
  operation: 'browser.navigate',
  method: 'POST',
  path: '/browser/navigate',
  summary: 'Load a URL, or move through the history of the tab',
  body: needingOneOf(
    {
      url: z.string().min(1).optional().describe('Absolute, as in https://example.com.'),
      history: z.enum(historySteps).optional(),
      wait_until: z.enum(loadStates).default('load'),
      ...pageCall,
    },
    ['url', 'history'],
  ),
  data: namedObject('BrowserNavigateResult', {
    url: z.string(),
    title: z.string(),
    status: z.int().nullable().describe('Of HTTP; null where there is none.'),
    tab_id: z.string(),
    ...effects,
  }),
  errors: [
    'unavailable',
    'bad_argument',
    'tab_not_found',
    'navigation_failed',
    'page_timeout',
    'ref_stale',
    'ref_malformed',
  ],
  async handle({ browser }, { body, context }) {
    const { url, history, wait_until: waitUntil } = body;
    const to = url === undefined ? { history: history ?? 'reload' } : { url };
    const { value, effects } = await navigate(browser, { ...pageOptions(body, context), to, waitUntil });
    const { tabId: tab_id, ...place } = value;
    return new Answer({ ...place, tab_id, ...effectsView(effects) }, { message: 'Navigated' });
  },
});

export const evaluateExpression = browserRoute({
  operation: 'browser.evaluate',
  method: 'POST',
  path: '/browser/evaluate',
  summary: 'Evaluate an expression in the page',
  body: z.object({
    expression: z.string().min(1).describe('JavaScript; await is permitted, and a function is called.'),
    await_promise: z.boolean().default(true),
    ...pageCall,
  }),
  data: namedObject('BrowserEvaluateResult', {
    value: z.unknown().describe('As JSON; null for undefined, a text for NaN, Infinity and bigint.'),
    type: z.string().describe('As typeof names it.'),
    ...effects,
  }),
  errors: ['unavailable', 'bad_argument', 'tab_not_found', 'page_timeout', 'ref_stale', 'ref_malformed'],
  async handle({ browser }, { body, context }) {
    const { expression, await_promise: awaitsPromise } = body;
    const options = pageOptions(body, context);
    const { value, effects } = await evaluate(browser, { ...options, expression, awaitsPromise });
    return { ...value, ...effectsView(effects) };
  },
});

const size = z
  .string()
  .regex(/^[1-9]\d{0,4}x[1-9]\d{0,4}$/, 'must be a width and a height, as in 1024x768')
  .optional();

export const screenshotPage = browserRoute({
  operation: 'browser.screenshot',
  method: 'GET',
  path: '/browser/screenshot',
  summary: 'Take a picture of the page',
  query: z.object({
    format: z.enum(['png', 'jpg', 'jpeg']).default('png'),
    quality: z.int().min(0).max(100).nullish().describe('Of a jpeg.'),
    full_page: z.boolean().default(false).describe('The whole page instead of its visible part.'),
    scale_to: size.describe('WIDTHxHEIGHT in pixels: the picture is made smaller until it fits.'),
    labels: z.boolean().default(false).describe('Draws the ref of each element that can be acted on.'),
    if_changed_from: z.string().optional().describe('The etag of an earlier picture: 304 when it is the same.'),
    ...tab,
    timeout,
  }),
  raw: {
    contentType: ['image/png', 'image/jpeg'],
    description:
      'The picture. x-image-width and x-image-height are its size, x-screen-width and x-screen-height that of the display, and etag names the picture.',
    also: { 304: 'The picture is the one that if_changed_from names.' },
  },
  errors: ['unavailable', 'bad_argument', 'tab_not_found', 'page_timeout', 'ref_stale', 'ref_malformed'],
  async handle({ browser }, { query, context }) {
    const { format, quality = null, full_page: isFullPage, scale_to: scale, labels } = query;
    const known = query.if_changed_from;
    const [width = 0, height = 0] = (scale ?? '').split('x').map(Number);
    const { bytes, image, screen, tag } = await takeScreenshot(browser, {
      ...pageOptions(query, context),
      format: format === 'png' ? 'png' : 'jpeg',
      ...{ quality, isFullPage, scaleTo: scale === undefined ? null : { width, height } },
      ...{ view: null, element: null, labels: labels ? (ref: string) => ref : null },
    });
    const etag = `"${tag}"`;
    const isSame = known !== undefined && known.replaceAll('"', '') === tag;
    const headers = {
      etag,
      'x-image-width': String(image.width),
      'x-image-height': String(image.height),
      'x-screen-width': String(screen.width),
      'x-screen-height': String(screen.height),
    };
    if (isSame) return new RawReply({ kind: 'none' }, headers, 304);
    return new RawReply(
      { kind: 'bytes', bytes },
      { ...headers, 'content-type': format === 'png' ? 'image/png' : 'image/jpeg' },
    );
  },
});
