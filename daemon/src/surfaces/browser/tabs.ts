/** The routes of a browser's tabs. */
import { z } from 'zod';
import { activateTab, closeTab, listTabs, openTab } from '../../core/browser/tabs.ts';
import { browserRoute } from './app.ts';
import { callOptions } from './inputs.ts';
import { TabView, tabView } from './views.ts';
import { namedObject } from '../../operations/inputs.ts';

export const listAllTabs = browserRoute({
  operation: 'browser.tabs',
  method: 'GET',
  path: '/browser/tabs',
  summary: 'List the tabs',
  data: z.array(TabView),
  errors: ['unavailable', 'page_timeout'],
  handle: async ({ browser }, { context }) => (await listTabs(browser, callOptions(context))).map(tabView),
});

export const openNewTab = browserRoute({
  operation: 'browser.open_tab',
  method: 'POST',
  path: '/browser/tabs',
  summary: 'Open a tab in the foreground',
  body: z.object({ url: z.string().nullish().describe('An empty page by default.') }),
  data: TabView,
  errors: ['unavailable', 'bad_argument', 'navigation_failed', 'page_timeout', 'tab_not_found'],
  handle: async ({ browser }, { body, context }) =>
    tabView(await openTab(browser, body.url || null, callOptions(context))),
});

const TabPath = z.object({ target_id: z.string() });
const Named = namedObject('BrowserTabId', { id: z.string(), tab_id: z.string(), target_id: z.string() });
const named = (id: string): z.input<typeof Named> => ({ id, tab_id: id, target_id: id });

const ofOneTab = { params: TabPath, data: Named, errors: ['unavailable', 'tab_not_found', 'page_timeout'] } as const;

export const closeOneTab = browserRoute({
  ...ofOneTab,
  operation: 'browser.close_tab',
  method: 'DELETE',
  path: '/browser/tabs/{target_id}',
  summary: 'Close a tab',
  async handle({ browser }, { params, context }) {
    await closeTab(browser, params.target_id, callOptions(context));
    return named(params.target_id);
  },
});

export const activateOneTab = browserRoute({
  ...ofOneTab,
  operation: 'browser.activate_tab',
  method: 'POST',
  path: '/browser/tabs/{target_id}/activate',
  summary: 'Bring a tab to the front',
  async handle({ browser }, { params, context }) {
    await activateTab(browser, params.target_id, callOptions(context));
    return named(params.target_id);
  },
});
