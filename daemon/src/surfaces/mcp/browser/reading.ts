/** The tools that read a page: as a snapshot, as text, as links, as a picture and as a PDF. */
import { z } from 'zod';
import { scroll as scrollPage } from '../../../core/browser/actions/scroll.ts';
import { evaluate as run } from '../../../core/browser/evaluate.ts';
import { printPdf } from '../../../core/browser/reading/pdf.ts';
import { readLinks as linksOf, readText } from '../../../core/browser/reading/read.ts';
import { takeScreenshot } from '../../../core/browser/screenshot.ts';
import type { Query } from '../../../core/browser/snapshot/find.ts';
import { lookAt } from '../../../core/browser/snapshot/snapshot.ts';
import { CoreError } from '../../../kit/errors.ts';
import { writeFile } from '../../../operations/files/write.ts';
import { perform, readsOnly } from '../app.ts';
import { cutText, footer } from '../text.ts';
import { act, acts, Acted, actTool, lookFor, named, numbersOf, pageOptions, pageTool } from './act.ts';
import { changesText, matchesText, pageText, shownUrl } from './page-text.ts';
import { targetOf } from './shown-pages.ts';

const defaultBytes = 16_000;
const Shown = z.object({ url: z.string(), snapshot_id: z.string() });

const find = {
  find: z.string().min(1).optional().describe('Only nodes with this text.'),
  role: z.string().min(1).optional().describe('Only nodes of this role.'),
};

const snapshot = pageTool({
  name: 'browser_snapshot',
  title: 'Show the page',
  description:
    'Show the page as text. A number in brackets is the index of an element. Actions answer what has changed, so that ' +
    'this is seldom needed after them.',
  annotations: readsOnly,
  input: z.object({
    ...find,
    interactive_only: z.boolean().default(false),
    diff_from: z.string().optional().describe('A snapshot_id: only what has changed since.'),
    max_bytes: z.int().min(100).max(262_144).default(defaultBytes),
  }),
  output: Shown,
  async run(context, input) {
    const query = queryOf(input);
    const look = await lookFor(context, { diffFrom: input.diff_from ?? null, find: query });
    const options = { maxBytes: input.max_bytes, numberOf: numbersOf(context.pages, look) };
    const text =
      query !== null
        ? matchesText(look, query, options)
        : look.base
          ? (changesText(look, look.base.root, options) ?? 'no change')
          : pageText(look, options, input.interactive_only);
    return {
      text: `${shownUrl(look.url)} (snapshot_id ${look.id})\n${text}`,
      data: { url: look.url, snapshot_id: look.id },
    };
  },
});

function queryOf(input: { readonly find?: string | undefined; readonly role?: string | undefined }): Query | null {
  if (input.find === undefined && input.role === undefined) return null;
  return { role: input.role ?? null, name: null, text: input.find ?? null };
}

const clickableElements = pageTool({
  name: 'browser_get_clickable_elements',
  title: 'List what can be acted on',
  description: 'List the elements that can be acted on, each with its index.',
  annotations: readsOnly,
  output: Shown,
  async run(context) {
    const look = await lookFor(context, {});
    const options = { maxBytes: defaultBytes, numberOf: numbersOf(context.pages, look) };
    return { text: pageText(look, options, true), data: { url: look.url, snapshot_id: look.id } };
  },
});

const maxWaitSeconds = 600;

const waitFor = pageTool({
  name: 'browser_wait_for',
  title: 'Wait for the page',
  description: 'Wait until the page shows a text or an element, and answer what has changed.',
  annotations: readsOnly,
  input: z.object({
    text: z.string().min(1).optional(),
    role: z.string().min(1).optional(),
    name: z.string().min(1).optional(),
    gone: z.boolean().default(false).describe('Until nothing matches.'),
    timeout: z.number().gt(0).max(maxWaitSeconds).default(10).describe('Seconds.'),
  }),
  output: Acted,
  run(context, { text = null, role = null, name = null, gone, timeout }) {
    const { deps, call } = context;
    if (text === null && role === null && name === null)
      throw new CoreError('bad_argument', 'text, role or name is required');
    const condition = { text, role, name, ref: null, isGone: gone, timeoutMs: timeout * 1000 };
    return act(context, { done: 'The wait is over.' }, async (options) => {
      const spec = { ...options, timeout: Math.min(maxWaitSeconds, timeout + 30), signal: call.signal };
      const { value, effects } = await lookAt(deps.browser, {
        ...spec,
        ...{ rootRef: null, diffFrom: null, find: null, waitFor: condition },
      });
      return { value: { tabId: value.tabId, url: value.url, title: value.root.name }, effects };
    });
  },
});

/** Ends a text that is already cut before the answer is. */
const notAll = 'the page has more than one call reads; browser_snapshot with find looks for a part';

function textTool(form: 'markdown' | 'text', name: string, title: string) {
  return pageTool({
    ...{ name, title },
    description: `Read the page as ${form === 'text' ? 'plain text' : 'Markdown'}.`,
    annotations: readsOnly,
    output: z.object({ url: z.string(), title: z.string(), is_cut: z.boolean() }),
    async run(context) {
      const { value } = await readText(context.deps.browser, { ...pageOptions(context), form });
      const { url, title: heading, isCut } = value;
      const read = isCut ? `${value.text}\n${footer(notAll)}` : value.text;
      const whole = form === 'markdown' ? `${heading}\n${read}` : read;
      const shown = await cutText(whole, context.call.outputs);
      return { text: shown.text, data: { url, title: heading, is_cut: isCut || shown.isCut } };
    },
  });
}

const getMarkdown = textTool('markdown', 'browser_get_markdown', 'Read as Markdown');
const getText = textTool('text', 'browser_get_text', 'Read as text');

const readLinks = pageTool({
  name: 'browser_read_links',
  title: 'Read the links',
  description: 'Read all links of the page.',
  annotations: readsOnly,
  output: z.object({ links: z.array(z.object({ text: z.string(), href: z.string() })) }),
  async run(context) {
    const { value } = await linksOf(context.deps.browser, pageOptions(context));
    const links = value.links.map(({ text, href }) => ({ text, href }));
    const lines = [...links.map((link) => JSON.stringify(link)), ...(value.isCut ? [footer(notAll)] : [])];
    const { text } = await cutText(lines.join('\n'), context.call.outputs);
    return { text, data: { links } };
  },
});

const evaluate = pageTool({
  name: 'browser_evaluate',
  title: 'Run JavaScript',
  description: 'Run JavaScript in the page and return its value.',
  annotations: acts,
  input: z.object({ script: z.string().min(1) }),
  output: z.object({ value: z.unknown(), type: z.string() }),
  async run(context, { script }) {
    const spec = { ...pageOptions(context), expression: script, awaitsPromise: true, runsScripts: true };
    const { value } = await run(context.deps.browser, spec).catch((error: unknown) => {
      // The server before this one took the body of a function.
      if (!(error instanceof Error && /Illegal return statement/.test(error.message))) throw error;
      return run(context.deps.browser, { ...spec, expression: `(async () => {${script}\n})()` });
    });
    const json = JSON.stringify(value.value);
    return { text: (await cutText(json, context.call.outputs)).text, data: { value: value.value, type: value.type } };
  },
});

const scroll = actTool({
  name: 'browser_scroll',
  title: 'Scroll',
  description: 'Scroll down, or up by a negative amount.',
  input: z.object({ amount: z.number().min(-1e7).max(1e7).optional().describe('Pixels; a screen by default.') }),
  run: (context, { amount = null }) =>
    act(context, { done: null }, async (options) => {
      const { value, effects } = await scrollPage(context.deps.browser, { ...options, amount });
      const end = value.isAtEnd ? 'Reached the bottom of the page.' : 'Did not reach the bottom of the page.';
      return { value: { ...value.place, done: `Scrolled ${value.pixels} pixels. ${end}` }, effects };
    }),
});

const screenshot = pageTool({
  name: 'browser_screenshot',
  title: 'Take a picture',
  description: 'Take a picture of the page or of an element.',
  annotations: readsOnly,
  input: z.object({
    name: z.string().max(200).optional().describe('Repeated in the answer.'),
    ...{ selector: named.selector, index: named.index },
    width: z.int().min(1).max(10_000).optional().describe('Of the view, with height.'),
    height: z.int().min(1).max(10_000).optional(),
    fullPage: z.boolean().default(false),
    highlight: z.boolean().default(false).describe('Draw the index of each element.'),
  }),
  output: z.object({ width: z.int(), height: z.int(), mime_type: z.string() }),
  async run(context, input) {
    const { deps, pages } = context;
    const { width, height } = input;
    const view = width === undefined || height === undefined ? null : { width, height };
    const { element = null, tabId = null } = targetOf(pages, { index: input.index, selector: input.selector }) ?? {};
    const options = pageOptions(context, tabId);
    const look = input.highlight ? await lookFor(context, { tabId }) : null;
    const { bytes, image } = await takeScreenshot(deps.browser, {
      ...options,
      ...{ format: 'png', quality: null, isFullPage: input.fullPage, scaleTo: null, view, element },
      labels: look === null ? null : (ref) => String(pages.numberOf({ ref, tabId: look.tabId })),
    });
    const what = input.name === undefined ? 'Screenshot' : `Screenshot ${JSON.stringify(input.name)}`;
    return {
      images: [{ bytes, type: 'image/png' }],
      text: `${what}, ${image.width}x${image.height}`,
      data: { ...image, mime_type: 'image/png' },
    };
  },
});

const pdf = pageTool({
  name: 'browser_pdf',
  title: 'Save as PDF',
  description: 'Save the page as a PDF file.',
  annotations: acts,
  input: z.object({ path: z.string().min(1).describe('A relative path starts in the workspace.') }),
  output: z.object({ path: z.string(), bytes: z.int() }),
  async run(context, { path }) {
    const { deps, call } = context;
    const content = (await printPdf(deps.browser, pageOptions(context))).toBase64();
    const written = await perform(writeFile, deps, { path, content, encoding: 'base64' }, call);
    return { text: `Saved ${written.path}, ${written.size} bytes.`, data: { path: written.path, bytes: written.size } };
  },
});

export const readingTools = {
  ...{ snapshot, clickableElements, waitFor, getMarkdown, getText, readLinks },
  ...{ evaluate, scroll, screenshot, pdf },
};
