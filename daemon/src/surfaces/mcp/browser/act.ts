/** Acts on a page for a model and answers what has changed since the model last looked, so that one call is one step. */
import { z } from 'zod';
import type { CallEffects, PageCallOptions, PageResult } from '../../../core/browser/browser.ts';
import type { ElementName } from '../../../core/browser/actions/element.ts';
import { lookAt, type Look, type SnapshotSpec } from '../../../core/browser/snapshot/snapshot.ts';
import { shortened } from '../../../core/browser/url.ts';
import { CoreError } from '../../../kit/errors.ts';
import { effects, effectsView } from '../../browser/views.ts';
import {
  tool,
  type Annotations,
  type McpDeps,
  type Tool,
  type ToolCall,
  type ToolDefinition,
  type ToolResult,
} from '../app.ts';
import { changesText, pageText, shownUrl } from './page-text.ts';
import { targetOf, type NamedElement, type ShownPages } from './shown-pages.ts';

/** Of the page in an answer to an action. */
const actBytes = 4000;

export const acts: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** What an action has led to. */
export const Acted = z.object({
  url: z.string(),
  title: z.string(),
  tab_id: z.string(),
  closed: z.literal(true).optional(),
  ...effects,
});

/** A tool that works on the pages that the model has seen. */
export type PageTool = (pages: ShownPages) => Tool;

export interface PageCallContext {
  readonly deps: McpDeps;
  readonly call: ToolCall;
  readonly pages: ShownPages;
}

interface PageToolDefinition<I extends z.ZodObject, O extends z.ZodObject> extends Omit<ToolDefinition<I, O>, 'run'> {
  readonly run: (context: PageCallContext, input: z.output<I>) => Promise<ToolResult<z.input<O>>>;
}

/** Like `tool`. Errors name elements by their numbers. */
export function pageTool<I extends z.ZodObject, O extends z.ZodObject>(definition: PageToolDefinition<I, O>): PageTool {
  return (pages) =>
    tool<I, O>({
      ...definition,
      async run(deps, input, call) {
        try {
          return await definition.run({ deps, call, pages }, input);
        } catch (error) {
          throw pages.worded(error);
        }
      },
    });
}

/** A tool that acts on a page: `run` returns the answer of `act`. */
export function actTool<I extends z.ZodObject>(
  definition: Omit<PageToolDefinition<I, typeof Acted>, 'annotations' | 'output'>,
): PageTool {
  return pageTool<I, typeof Acted>({ ...definition, annotations: acts, output: Acted });
}

interface Done {
  readonly tabId: string;
  readonly url: string;
  readonly title: string;
  readonly isClosed?: boolean;
  /** What was done, where only the action knows. */
  readonly done?: string;
}

/** Runs an action, and looks at the page afterwards. */
export async function act(
  context: PageCallContext,
  { done, tabId = null }: { readonly done: string | null; readonly tabId?: string | null },
  work: (options: PageCallOptions) => Promise<PageResult<Done>>,
): Promise<ToolResult<z.input<typeof Acted>>> {
  const options = pageOptions(context, tabId);
  const { value: place, effects: caused } = await work(options);
  const shown = place.isClosed === true ? 'The tab has closed.' : await changesSince(context, place);
  const { url, title, tabId: tab_id, isClosed } = place;
  return {
    text: [place.done ?? done, ...effectLines(caused), shown].join('\n'),
    data: { url, title, tab_id, ...(isClosed === true && { closed: true as const }), ...effectsView(caused) },
  };
}

export function pageOptions({ call: { signal } }: PageCallContext, tabId: string | null = null): PageCallOptions {
  return { tabId, timeout: null, signal };
}

/** The page after an action. An action that has ended its tab or its page meanwhile was done all the same. */
async function changesSince(context: PageCallContext, { tabId, url }: Done): Promise<string> {
  try {
    const before = context.pages.seen(tabId);
    const look = await lookFor(context, { tabId, diffFrom: before?.id ?? null });
    const options = { maxBytes: actBytes, numberOf: numbersOf(context.pages, look) };
    const isSame = look.base !== null && before?.document === look.document;
    if (!isSame || !look.base) return `${shownUrl(url)}\n${pageText(look, options, false)}`;
    const moved = before.url === look.url ? [] : [shownUrl(url)];
    return [...moved, changesText(look, look.base.root, options) ?? 'no change'].join('\n');
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return `The page does not show what has changed: ${error.message}.`;
  }
}

/** Looks at a page; the model then knows the page. */
export async function lookFor(
  context: PageCallContext,
  {
    tabId = null,
    waitFor = null,
    timeout = null,
    ...spec
  }: Partial<Pick<SnapshotSpec, 'tabId' | 'diffFrom' | 'waitFor' | 'find' | 'timeout'>>,
): Promise<Look> {
  const { deps, pages } = context;
  const options = { ...pageOptions(context, tabId), timeout };
  const { value } = await lookAt(deps.browser, {
    ...options,
    ...{ rootRef: null, find: spec.find ?? null, waitFor, diffFrom: spec.diffFrom ?? null },
  });
  pages.see(value.tabId, value);
  return value;
}

export function numbersOf(pages: ShownPages, { tabId }: Pick<Look, 'tabId'>): (ref: string) => number {
  return (ref) => pages.numberOf({ ref, tabId });
}

/** The fields by which a call names an element. */
export const named = {
  index: z.int().min(0).optional(),
  selector: z.string().min(1).optional(),
  role: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
};

/** Throws `bad_argument` where the call names no element. */
export function elementIn(
  pages: ShownPages,
  named: NamedElement,
): { readonly element: ElementName; readonly tabId: string | null } {
  const target = targetOf(pages, named);
  if (target) return target;
  throw new CoreError('bad_argument', 'index, selector, or role and name is required', {
    next: { operation: 'browser.snapshot' },
  });
}

/** How an answer names the element of a call. */
export function nameOf({ index, selector, role, name }: NamedElement): string {
  if (index !== undefined) return `[${index}]`;
  return shortened(selector ?? [role, name === undefined ? null : JSON.stringify(name)].filter(Boolean).join(' '));
}

function effectLines({ dialogs, openedTabs, downloads, omitted }: CallEffects): string[] {
  return [
    ...dialogs.map(
      ({ type, message, isAccepted }) =>
        `${type} ${JSON.stringify(message)} was ${isAccepted ? 'accepted' : 'dismissed'}`,
    ),
    ...openedTabs.map(({ url }) => `a tab has opened: ${shownUrl(url)}`),
    ...downloads.map(({ suggestedFilename, state, receivedBytes, path }) => {
      const where = path === null ? '' : ` to ${path}`;
      return `download ${JSON.stringify(suggestedFilename)}: ${state}, ${receivedBytes} bytes${where}`;
    }),
    ...(omitted > 0 ? [`${omitted} more tabs and downloads`] : []),
  ];
}
