/** The tools that act on an element of a page, and on what has the focus. */
import { z } from 'zod';
import type { ClickSpec } from '../../../core/browser/actions/click.ts';
import { pressOnPage } from '../../../core/browser/actions/press-page.ts';
import { CoreError } from '../../../kit/errors.ts';
import { act, actTool, elementIn, nameOf, named, type PageCallContext } from './act.ts';
import type { NamedElement } from './shown-pages.ts';

const { index, selector } = named;

/** Keys of the server before this one; any other key or chord is taken too. */
const keys =
  'Enter, Tab, Escape, Backspace, Delete, Insert, F1-F12, ArrowLeft, PageUp, PageDown, Home, End, Control+A, …';

function point(
  context: PageCallContext,
  input: NamedElement,
  { done, ...spec }: Partial<ClickSpec> & { readonly done: string },
) {
  const { element, tabId } = elementIn(context.pages, input);
  return act(context, { done, tabId }, (options) =>
    context.deps.browserBackend.click({
      ...options,
      ...{ button: 'left', count: 1, modifiers: [], position: null, isHover: false, dragTo: null, press: [], element },
      ...spec,
    }),
  );
}

const click = actTool({
  name: 'browser_click',
  title: 'Click',
  description: 'Click an element, or drag it to another one.',
  input: z.object({
    ...named,
    button: z.enum(['left', 'right', 'middle']).default('left'),
    count: z.int().min(1).max(3).default(1).describe('2: double click'),
    x: z.number().min(0).optional().describe('With y: pixels from the corner of the element.'),
    y: z.number().min(0).optional(),
    drag_to: z.int().min(0).optional().describe('Index of the element to drop on.'),
    dialogs: z.enum(['accept', 'dismiss']).optional().describe('Answer to a dialog that opens.'),
    dialog_text: z.string().optional(),
  }),
  run(context, input) {
    const { button, count, x, y, drag_to: to, dialogs, dialog_text: text } = input;
    if ((x === undefined) !== (y === undefined)) throw new CoreError('bad_argument', 'x and y are required together');
    const dragTo = to === undefined ? null : { element: dropOn(context, input, to), position: null };
    const action = dialogs ?? (text === undefined ? null : 'accept');
    return point(context, input, {
      done: dragTo === null ? `Clicked ${nameOf(input)}.` : `Dragged ${nameOf(input)} to [${to}].`,
      ...{ button, count, dragTo, dialogs: { action, text: text ?? null } },
      position: x === undefined || y === undefined ? null : { x, y },
    });
  },
});

/** The element to drop on. Throws `bad_argument` where it is in another tab than the element that is dragged. */
function dropOn({ pages }: PageCallContext, { index: dragged }: NamedElement, index: number) {
  const { ref, tabId } = pages.elementOf(index);
  const from = dragged === undefined ? null : pages.elementOf(dragged).tabId;
  if (from !== null && tabId !== null && from !== tabId)
    throw new CoreError('bad_argument', `index ${dragged} and index ${index} are in different tabs`);
  return { ref };
}

const hover = actTool({
  name: 'browser_hover',
  title: 'Hover',
  description: 'Move the pointer to an element.',
  input: z.object(named),
  run: (context, input) => point(context, input, { done: `Hovered ${nameOf(input)}.`, isHover: true }),
});

function put(
  context: PageCallContext,
  input: NamedElement,
  { value, keys: pressed = [], verb }: { value: string; keys?: readonly string[]; verb: string },
) {
  const { element, tabId } = elementIn(context.pages, input);
  return act(context, { done: `${verb}.`, tabId }, async (options) => {
    // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a backend is not an array
    const filled = await context.deps.browserBackend.fill({ ...options, element, value, press: pressed });
    return { ...filled, value: filled.value.place };
  });
}

const formInputFill = actTool({
  name: 'browser_form_input_fill',
  title: 'Fill a field',
  description: 'Put a value into a field: text, a date as 2031-05-17, true or false for a checkbox.',
  input: z.object({
    ...{ index, selector },
    value: z.string(),
    clear: z.boolean().default(false).describe('No effect: the value always replaces the old one.'),
  }),
  run: (context, input) => put(context, input, { value: input.value, verb: 'Filled' }),
});

const fill = actTool({
  name: 'browser_fill',
  title: 'Fill a field and press a key',
  description: 'browser_form_input_fill, also by role and name.',
  input: z.object({ ...named, value: z.string(), press: z.string().optional().describe('Afterwards, as in Enter.') }),
  run: (context, input) =>
    put(context, input, {
      ...{ value: input.value, verb: 'Filled' },
      ...(input.press !== undefined && { keys: [input.press] }),
    }),
});

const select = actTool({
  name: 'browser_select',
  title: 'Choose an option',
  description: 'Choose an option by its value or text.',
  input: z.object({ ...named, value: z.string() }),
  run: (context, input) => put(context, input, { value: input.value, verb: 'Selected' }),
});

const maxPaths = 1000;

const upload = actTool({
  name: 'browser_upload',
  title: 'Upload files',
  description: 'Give files of the sandbox to a file input, or to the button that opens the file chooser.',
  input: z.object({ ...named, paths: z.array(z.string().min(1)) }),
  run(context, input) {
    const { element, tabId } = elementIn(context.pages, input);
    const { browserBackend, files } = context.deps;
    if (input.paths.length === 0 || input.paths.length > maxPaths)
      throw new CoreError('bad_argument', `paths has ${input.paths.length} entries, and 1 to ${maxPaths} are taken`);
    const paths = input.paths.map((path) => files.paths.resolve(path, null));
    return act(context, { done: `Gave ${paths.length} files to ${nameOf(input)}.`, tabId }, async (options) => {
      const given = await browserBackend.upload({ ...options, element, paths });
      return { ...given, value: given.value.place };
    });
  },
});

const pressKey = actTool({
  name: 'browser_press_key',
  title: 'Press a key',
  description: 'Press a key or a chord on what has the focus.',
  input: z.object({ key: z.string().min(1).max(50).describe(keys) }),
  run: (context, { key }) =>
    act(context, { done: `Pressed ${key}.` }, (options) =>
      pressOnPage(context.deps.browser, { ...options, keys: [oneSided(key)] }),
    ),
});

/** A page sees no difference between the two keys of a modifier but the place. */
function oneSided(key: string): string {
  return key.replace(/^(Shift|Control|Alt|Meta)(?:Left|Right)$/, '$1');
}

export const elementTools = { click, hover, formInputFill, fill, select, upload, pressKey };
