/** The v1 routes that work on a page: where it goes, what stands on it, and what is done to that. */
import { z } from 'zod';
import { route } from './app.ts';
import { noBrowser } from './unserved.ts';

const tab = { tab_id: z.string().optional().describe('The active page otherwise.') };
const element = {
  ref: z.string().optional().describe('As a snapshot tells it.'),
  selector: z.string().optional().describe('A CSS selector.'),
};

/** A body that needs one field of each group, by whichever of its names. */
function needingOneOf<S extends z.ZodRawShape>(shape: S, ...groups: readonly string[][]) {
  return z
    .object(shape)
    .superRefine((body, context) => {
      for (const names of groups) {
        if (names.some((name) => (body as Record<string, unknown>)[name] !== undefined)) continue;
        context.addIssue({ code: 'custom', path: names.slice(0, 1), message: `${names.join(' or ')} is required` });
      }
    })
    .meta({ allOf: groups.map((names) => ({ anyOf: names.map((name) => ({ required: [name] })) })) });
}

export const navigate = route({
  operation: 'browser.navigate_v1',
  method: 'POST',
  path: '/v1/browser/navigate',
  summary: 'Open a URL, or go through the history of the page',
  body: needingOneOf(
    {
      url: z.string().min(1).optional(),
      history: z.enum(['back', 'forward', 'reload']).optional(),
      wait_until: z.enum(['load', 'domcontentloaded', 'networkidle', 'none']).default('load'),
      timeout: z.number().min(0).optional().describe('Seconds.'),
      ...tab,
    },
    ['url', 'history'],
  ),
  data: z
    .object({ url: z.string(), title: z.string(), status: z.int().nullable() })
    .meta({ id: 'BrowserNavigateResult' }),
  errors: ['unavailable'],
  handle: noBrowser,
});

export const evaluate = route({
  operation: 'browser.evaluate_v1',
  method: 'POST',
  path: '/v1/browser/evaluate',
  summary: 'Evaluate an expression in the page',
  body: z.object({ expression: z.string().min(1), await_promise: z.boolean().default(true), ...tab }),
  data: z.object({ value: z.unknown(), type: z.string() }).meta({ id: 'BrowserEvaluateResult' }),
  errors: ['unavailable'],
  handle: noBrowser,
});

const Done = z.unknown();

export const click = route({
  operation: 'browser.click_v1',
  method: 'POST',
  path: '/v1/browser/click',
  summary: 'Click an element once it can be clicked',
  body: needingOneOf({ ...element, ...tab }, ['ref', 'selector']),
  data: Done,
  errors: ['unavailable'],
  handle: noBrowser,
});

export const fill = route({
  operation: 'browser.fill_v1',
  method: 'POST',
  path: '/v1/browser/fill',
  summary: 'Put a text into an input',
  body: needingOneOf(
    { ...element, value: z.string().optional(), text: z.string().optional(), ...tab },
    ['ref', 'selector'],
    ['value', 'text'],
  ),
  data: Done,
  errors: ['unavailable'],
  handle: noBrowser,
});

const paths = z.array(z.string().min(1)).min(1).optional();

export const upload = route({
  operation: 'browser.upload_v1',
  method: 'POST',
  path: '/v1/browser/upload',
  summary: 'Give files of the sandbox to a file input',
  body: needingOneOf({ ...element, paths, files: paths, ...tab }, ['ref', 'selector'], ['paths', 'files']),
  data: Done,
  errors: ['unavailable'],
  handle: noBrowser,
});
