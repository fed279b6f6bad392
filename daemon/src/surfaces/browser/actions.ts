/** The routes that act on an element of a page: click, fill and upload. */
import { z } from 'zod';
import type { AgentBrowser } from '../../core/browser/agent-browser.ts';
import { click } from '../../core/browser/actions/click.ts';
import { fill } from '../../core/browser/actions/fill.ts';
import type { Place } from '../../core/browser/actions/outcome.ts';
import { modifierKeys, mouseButtons } from '../../core/browser/actions/pointer.ts';
import { upload } from '../../core/browser/actions/upload.ts';
import { sameValue } from '../../http/same-value.ts';
import { CoreError } from '../../kit/errors.ts';
import { browserRoute, type BrowserDeps } from './app.ts';
import { needingOneOf, pageCall, pageOptions } from './inputs.ts';
import { effects, effectsView } from './views.ts';

const element = {
  ref: z.string().min(1).optional().describe('From a snapshot.'),
  selector: z
    .string()
    .min(1)
    .optional()
    .describe('A CSS selector. The first match counts, in shadow trees and frames too.'),
  ...pageCall,
  timeout: pageCall.timeout.describe('Seconds; 10 by default.'),
};

const place = {
  tab_id: z.string(),
  url: z.string().describe('The page after the action.'),
  title: z.string(),
  closed: z.literal(true).optional().describe('Present when the action has closed the tab.'),
  ...effects,
};

const errors = ['unavailable', 'bad_argument', 'tab_not_found', 'ref_stale', 'page_timeout'] as const;

const Coordinate = z.number().min(0);

const ClickBody = needingOneOf(
  {
    ...element,
    button: z.enum(mouseButtons).default('left'),
    count: z.int().min(1).max(3).default(1).describe('2 is a double click.'),
    modifiers: z.array(z.enum(modifierKeys)).max(4).default([]).describe('Keys that are held down.'),
    position: z
      .object({ x: Coordinate, y: Coordinate })
      .optional()
      .describe('Pixels from the left top corner of the element; its middle by default.'),
    hover: z.boolean().default(false).describe('Move the pointer to the element and press nothing.'),
    drag_to: z.string().min(1).optional().describe('The ref of the element on which this one is dropped.'),
  },
  ['ref', 'selector'],
);
type ClickBody = z.output<typeof ClickBody>;

export const clickElement = browserRoute({
  operation: 'browser.click',
  method: 'POST',
  path: '/browser/click',
  summary: 'Click an element, hover over it or drag it, once the pointer reaches it',
  body: ClickBody,
  data: z.object(place).meta({ id: 'BrowserClickResult' }),
  errors,
  async handle({ browser, agentBrowser }, { body, context }) {
    if (agentBrowser && body.ref) return await delegated(agentBrowser, browser, body, context, clickCommand(body));
    const { button, count, modifiers, position = null, hover: isHover, drag_to: dragTo = null } = body;
    const { value, effects } = await click(browser, {
      ...options(body, context),
      ...{ button, count, modifiers, position, isHover, dragTo },
    });
    return { ...placeView(value), ...effectsView(effects) };
  },
});

const Value = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string()).max(1000)])
  .optional()
  .describe('Text; true or false for a checkbox; an array for a select element that takes several options.');

export const fillField = browserRoute({
  operation: 'browser.fill',
  method: 'POST',
  path: '/browser/fill',
  summary: 'Put a value into a field of any type',
  body: needingOneOf({ ...element, value: Value, text: Value }, ['ref', 'selector'], ['value', 'text']).superRefine(
    sameValue('value', 'text'),
  ),
  data: z
    .object({
      ...place,
      value: z
        .union([z.string(), z.boolean(), z.array(z.string())])
        .optional()
        .describe('What the field holds; absent for a password and for a long text.'),
      length: z.int().optional().describe('The characters of a long text.'),
      matches: z
        .boolean()
        .nullable()
        .describe('Whether the field holds the given value; null when the page has replaced the field.'),
    })
    .meta({ id: 'BrowserFillResult' }),
  errors,
  async handle({ browser, agentBrowser }, { body, context }) {
    const wanted = body.value ?? body.text ?? '';
    if (agentBrowser && body.ref) {
      const command = fillCommand(wanted);
      return { ...(await delegated(agentBrowser, browser, body, context, command)), matches: null };
    }
    const { value, effects } = await fill(browser, { ...options(body, context), value: wanted });
    const { value: held, length, matches = null } = value.held ?? {};
    return {
      ...placeView(value.place),
      ...(held !== undefined && { value: typeof held === 'object' ? [...held] : held }),
      ...(length !== undefined && { length }),
      matches,
      ...effectsView(effects),
    };
  },
});

const paths = z.array(z.string().min(1)).min(1).max(1000).optional();

export const uploadFiles = browserRoute({
  operation: 'browser.upload',
  method: 'POST',
  path: '/browser/upload',
  summary: 'Give files of the sandbox to a file input',
  body: needingOneOf(
    { ...element, paths: paths.describe('A relative path starts in the workspace.'), files: paths },
    ['ref', 'selector'],
    ['paths', 'files'],
  ).superRefine(sameValue('paths', 'files')),
  data: z
    .object({
      ...place,
      files: z
        .array(z.object({ name: z.string(), size: z.number() }))
        .nullable()
        .describe('What the input holds; null when the page has replaced the input.'),
    })
    .meta({ id: 'BrowserUploadResult' }),
  errors,
  async handle({ browser, agentBrowser, files: { paths: resolver } }, { body, context }) {
    const given = body.paths ?? body.files ?? [];
    if (agentBrowser && body.ref) {
      const command = { verb: 'upload', values: given.map((path) => resolver.resolve(path, null)) };
      return { ...(await delegated(agentBrowser, browser, body, context, command)), files: null };
    }
    const { value, effects } = await upload(browser, {
      ...options(body, context),
      paths: given.map((path) => resolver.resolve(path, null)),
    });
    const files = value.files?.map(({ name, size }) => ({ name, size })) ?? null;
    return { ...placeView(value.place), files, ...effectsView(effects) };
  },
});

type ElementBody = { readonly ref?: string | undefined; readonly selector?: string | undefined };

/** A ref is exact, so it counts when both are given. */
function options(body: ElementBody & Parameters<typeof pageOptions>[0], context: Parameters<typeof pageOptions>[1]) {
  const { ref, selector = '' } = body;
  return { ...pageOptions(body, context), element: ref === undefined ? { selector } : { ref } };
}

function placeView({ tabId: tab_id, url, title, isClosed }: Place) {
  return { tab_id, url, title, ...(isClosed && { closed: true as const }) };
}

interface Command {
  readonly verb: string;
  readonly values: readonly string[];
}

async function delegated(
  agentBrowser: AgentBrowser,
  browser: BrowserDeps['browser'],
  body: ElementBody & Parameters<typeof pageOptions>[0],
  context: Parameters<typeof pageOptions>[1],
  { verb, values }: Command,
) {
  const { ref = '' } = body;
  const place = await agentBrowser.act(browser, pageOptions(body, context), { ref, verb, values });
  return { tab_id: place.tabId, url: place.url, title: place.title };
}

function clickCommand({ button, count, modifiers, position, hover, drag_to: target }: ClickBody): Command {
  const isPlain = button === 'left' && count <= 2 && modifiers.length === 0 && position === undefined;
  if (!isPlain) {
    throw new CoreError('bad_argument', 'agent-browser clicks with the left button, once or twice, without modifiers', {
      hint: 'Leave out button, modifiers and position, or pass a selector instead of the ref.',
    });
  }
  if (target !== undefined) return { verb: 'drag', values: [`@${target}`] };
  if (hover) return { verb: 'hover', values: [] };
  return { verb: count === 2 ? 'dblclick' : 'click', values: [] };
}

function fillCommand(value: string | number | boolean | readonly string[]): Command {
  if (typeof value === 'boolean') return { verb: value ? 'check' : 'uncheck', values: [] };
  if (typeof value === 'object') return { verb: 'select', values: value };
  return { verb: 'fill', values: [String(value)] };
}
