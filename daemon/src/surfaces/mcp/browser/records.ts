/** The tools that list what pages have loaded, logged and downloaded. */
import { z } from 'zod';
import { readConsole } from '../../../core/browser/reading/console.ts';
import { NetworkRequestView, requestView } from '../../browser/views.ts';
import { readsOnly } from '../app.ts';
import { cutText } from '../text.ts';
import { pageOptions, pageTool } from './act.ts';
import { shownUrl } from './page-text.ts';

const limit = z.int().min(1).max(1000).default(50);
const maxUrlCharacters = 300;

const network = pageTool({
  name: 'browser_network',
  title: 'List the requests',
  description: 'List the newest requests of the pages.',
  annotations: readsOnly,
  input: z.object({ filter: z.string().optional().describe('A part of the URL.'), limit }),
  output: z.object({ requests: z.array(NetworkRequestView) }),
  async run(context, { filter = null, limit: count }) {
    const { browser } = context.deps;
    await browser.watchActive(pageOptions(context));
    const requests = browser.requests.list(count, filter);
    const lines = requests.map(({ method, url, status, error, resourceType, durationMs }) => {
      const end = error ?? status ?? 'open';
      const shown = url.length > maxUrlCharacters ? `${url.slice(0, maxUrlCharacters)}…` : url;
      return `${method} ${shown} ${end} ${resourceType}${durationMs === null ? '' : ` ${durationMs} ms`}`;
    });
    const text = lines.length === 0 ? 'no requests' : (await cutText(lines.join('\n'), context.call.outputs)).text;
    return { text, data: { requests: requests.map(requestView) } };
  },
});

const ConsoleMessages = z.object({
  messages: z.array(
    z.object({ level: z.string(), text: z.string(), url: z.string().nullable(), line: z.int().nullable() }),
  ),
});

const console = pageTool({
  name: 'browser_console',
  title: 'Read the console',
  description: 'Read the newest messages and errors of the page.',
  annotations: readsOnly,
  input: z.object({ limit }),
  output: ConsoleMessages,
  async run(context, { limit: count }) {
    const { value } = await readConsole(context.deps.browser, pageOptions(context));
    const messages = value.slice(-count).map((message) => ({ ...message }));
    const lines = messages.map(({ level, text, url, line }) => {
      const place = url === null || url === '' ? '' : ` (${url}${line === null ? '' : `:${line}`})`;
      // A message could imitate the next one.
      return `${level}: ${text.replaceAll('\n', '\n  ')}${place}`;
    });
    const text = lines.length === 0 ? 'no messages' : (await cutText(lines.join('\n'), context.call.outputs)).text;
    return { text, data: { messages } };
  },
});

const Downloads = z.object({
  list: z.array(
    z.object({
      guid: z.string(),
      url: z.string(),
      suggestedFilename: z.string(),
      state: z.string(),
      receivedBytes: z.number(),
      path: z.string().nullable(),
    }),
  ),
});

const downloadList = pageTool({
  name: 'browser_get_download_list',
  title: 'List the downloads',
  description: 'List the downloads of the last hour.',
  annotations: readsOnly,
  output: Downloads,
  run: async ({ deps }) => {
    const list = deps.browser.downloads.map(({ id, url, ...download }) => ({
      guid: id,
      url: shownUrl(url),
      ...download,
    }));
    const data = { list };
    return { text: JSON.stringify(data), data };
  },
});

export const recordTools = { network, console, downloadList };
