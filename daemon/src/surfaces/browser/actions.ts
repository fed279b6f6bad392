/** The routes that act on an element of a page: click, fill and upload. */
import { z } from 'zod';
import type { Spot } from '../../core/browser/actions/drag.ts';
import type { ElementName } from '../../core/browser/actions/element.ts';
import type { Place } from '../../core/browser/actions/outcome.ts';
import { modifierKeys, mouseButtons } from '../../core/browser/actions/pointer.ts';
import { sameValue } from '../../http/route/same-value.ts';
import { browserRoute } from './app.ts';
import { needingOneOf, pageCall, pageOptions } from './inputs.ts';
import { effects, effectsView } from './views.ts';
import { namedObject } from '../../operations/inputs.ts';

const named = {
  ref: z.string().optional().describe('From a snapshot.'),
  selector: z
    .string()
    .min(1)
    .optional()
    .describe('A CSS selector. The first match counts, in shadow trees and frames too.'),
};

const located = {
  role: z.string().min(1).optional().describe('A role of a snapshot, such as button or link.'),
  name: z
    .string()
    .min(1)
    .optional()
    .describe('With role: the name, or a part of it. Exactly one element has to match.'),
  label: z.string().min(1).optional().describe('The label of a field, or a part of it.'),
};

const clickable = {
  ...named,
  ...located,
  text: z.string().min(1).optional().describe('A text of the page, or a part of it.'),
};

const element = {
  ...named,
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

const errors = ['unavailable', 'bad_argument', 'tab_not_found', 'ref_stale', 'ref_malformed', 'page_timeout'] as const;

const Chord = z.string().min(1).max(50);
const press = z
  .union([Chord, z.array(Chord).max(100)])
  .optional()
  .describe(
    'A key or chord, or a list, such as Enter, ArrowDown or Control+A. Pressed afterwards on what has the focus.',
  );

const targets = ['ref', 'selector', 'position', 'role', 'label', 'text'];

const Coordinate = z.number().min(0);
const Position = z.object({ x: Coordinate, y: Coordinate });

const ClickBody = needingOneOf(
  {
    ...element,
    ...clickable,
    button: z.enum(mouseButtons).default('left'),
    count: z.int().min(1).max(3).default(1).describe('2 is a double click.'),
    modifiers: z.array(z.enum(modifierKeys)).max(4).default([]).describe('Keys that are held down.'),
    position: Position.optional().describe(
      'Pixels from the left top corner of the element, or of the visible page without ref and selector.',
    ),
    hover: z.boolean().default(false).describe('Move the pointer to the element and press nothing.'),
    drag_to: z
      .union([z.string().min(1), needingOneOf({ ...clickable, position: Position.optional() }, targets)])
      .optional()
      .describe(
        'Where the element is dropped: a ref, or an object that names an element as this call does, or a position.',
      ),
    press,
  },
  targets,
);

export const clickElement = browserRoute({
  operation: 'browser.click',
  method: 'POST',
  path: '/browser/click',
  summary: 'Click an element, hover over it or drag it, once the pointer reaches it',
  body: ClickBody,
  data: namedObject('BrowserClickResult', place),
  errors,
  async handle({ browserBackend }, { body, context }) {
    const { button, count, modifiers, hover: isHover, drag_to: target = null } = body;
    const dragTo = target === null ? null : spotOf(typeof target === 'string' ? { ref: target } : target);
    const { value, effects } = await browserBackend.click({
      ...pageOptions(body, context),
      ...spotOf(body),
      ...{ button, count, modifiers, isHover, dragTo, press: listOf(body.press) },
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
  body: needingOneOf(
    { ...element, ...located, value: Value, text: Value.describe('An alias of value.'), press },
    ['ref', 'selector', 'role', 'label'],
    ['value', 'text', 'press'],
  ).superRefine(sameValue('value', 'text')),
  data: namedObject('BrowserFillResult', {
    ...place,
    value: z
      .union([z.string(), z.boolean(), z.array(z.string())])
      .optional()
      .describe('What the field holds; absent for a password and for a long text.'),
    length: z.int().optional().describe('The characters of a long text.'),
    matches: z
      .boolean()
      .nullable()
      .describe(
        'Whether the field holds the given value; null when the page has replaced the field, or without value.',
      ),
  }),
  errors,
  async handle({ browserBackend }, { body, context }) {
    const wanted = body.value ?? body.text ?? null;
    const press = listOf(body.press);
    // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a backend is not an array
    const { value, effects } = await browserBackend.fill({
      ...options({ ...body, text: undefined }, context),
      value: wanted,
      press,
    });
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
  data: namedObject('BrowserUploadResult', {
    ...place,
    files: z
      .array(z.object({ name: z.string(), size: z.number() }))
      .nullable()
      .describe('What the input holds; null when the page has replaced the input.'),
  }),
  errors,
  async handle({ browserBackend, files: { paths: resolver } }, { body, context }) {
    const given = body.paths ?? body.files ?? [];
    const { value, effects } = await browserBackend.upload({
      ...options(body, context),
      paths: given.map((path) => resolver.resolve(path, null)),
    });
    const files = value.files?.map(({ name, size }) => ({ name, size })) ?? null;
    return { ...placeView(value.place), files, ...effectsView(effects) };
  },
});

type ElementBody = {
  readonly [Field in 'ref' | 'selector' | 'role' | 'name' | 'label' | 'text']?: string | undefined;
};

type SpotBody = ElementBody & { readonly position?: { readonly x: number; readonly y: number } | undefined };

/** Without an element, the position is one of the visible page. */
function spotOf(body: SpotBody): Spot {
  const { ref, selector, position = null } = body;
  const isNamed = [ref, selector, body.role, body.name, body.label, body.text].some((part) => part !== undefined);
  if (position === null || isNamed) return { element: elementOf(body), position };
  return { element: { point: position }, position: { ...position, isOfView: true } };
}

/** The most exact name counts when several are given. */
function elementOf({ ref, selector, role, name, label, text }: ElementBody): ElementName {
  if (ref !== undefined) return { ref };
  if (selector !== undefined) return { selector };
  return { locator: { role: role ?? null, name: name ?? null, label: label ?? null, text: text ?? null } };
}

function options(body: ElementBody & Parameters<typeof pageOptions>[0], context: Parameters<typeof pageOptions>[1]) {
  return { ...pageOptions(body, context), element: elementOf(body) };
}

function placeView({ tabId: tab_id, url, title, isClosed }: Place) {
  return { tab_id, url, title, ...(isClosed && { closed: true as const }) };
}

function listOf(press: string | readonly string[] = []): readonly string[] {
  return typeof press === 'string' ? [press] : press;
}
