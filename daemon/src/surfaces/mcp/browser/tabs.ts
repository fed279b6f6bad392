/** The tools that load pages and manage tabs. */
import { z } from 'zod';
import { evaluate } from '../../../core/browser/evaluate.ts';
import { navigate as load, type NavigateSpec } from '../../../core/browser/navigate.ts';
import { activateTab, closeTab as close, listTabs, openTab, type Tab } from '../../../core/browser/tabs.ts';
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import { TabView, tabView } from '../../browser/views.ts';
import { readsOnly } from '../app.ts';
import { act, acts, actTool, pageTool, type PageCallContext } from './act.ts';
import { shownUrl } from './page-text.ts';

/** A browser that gets a much longer URL answers nothing for seconds. */
const maxUrlCharacters = 65_536;
/** Some pages never finish loading. */
const maxLoadMs = 3000;
const loaded = `document.readyState === 'complete' || new Promise((resolve) => {
  addEventListener('load', resolve, { once: true });
  setTimeout(resolve, ${maxLoadMs});
}).then(() => true)`;

function go(context: PageCallContext, done: string, to: NavigateSpec['to']) {
  const { browser } = context.deps;
  return act(context, { done }, async (options) => {
    const navigated = await load(browser, { ...options, to, waitUntil: 'domcontentloaded' });
    const spec = { ...options, tabId: navigated.value.tabId, timeout: 2 * (maxLoadMs / 1000) };
    // A page that answers nothing yet, or that loads another one, is shown as it is.
    await nullOn(CoreError, evaluate(browser, { ...spec, expression: loaded, awaitsPromise: true }));
    return navigated;
  });
}

const navigate = actTool({
  name: 'browser_navigate',
  title: 'Load a page',
  description: 'Load a URL in the current tab and show the page.',
  input: z.object({ url: z.string().min(1).max(maxUrlCharacters) }),
  run: (context, { url }) => go(context, 'Navigated.', { url }),
});

const historyTool = (history: 'back' | 'forward', name: string) =>
  actTool({
    name,
    title: `Go ${history}`,
    description: `Go ${history} in the history.`,
    run: (context) => go(context, `Navigated ${history}.`, { history }),
  });

const goBack = historyTool('back', 'browser_go_back');
const goForward = historyTool('forward', 'browser_go_forward');

const noEffects = { dialogs: [], openedTabs: [], downloads: [], omitted: 0 };

/** Shows the tab that is in the foreground now. */
function showTab(context: PageCallContext, done: string, { id, url, title }: Tab) {
  return act(context, { done, tabId: id }, async () => ({ value: { tabId: id, url, title }, effects: noEffects }));
}

const newTab = actTool({
  name: 'browser_new_tab',
  title: 'Open a tab',
  description: 'Open a URL in a new tab and show the page.',
  input: z.object({ url: z.string().max(maxUrlCharacters) }),
  async run(context, { url }) {
    const { browser } = context.deps;
    const tab = await openTab(browser, url || null, { timeout: null, signal: context.call.signal });
    return await showTab(context, `Opened tab ${tab.index}.`, tab);
  },
});

const Tabs = z.object({ tabList: z.array(TabView) });

async function tabsOf({ deps, call: { signal } }: PageCallContext) {
  return (await listTabs(deps.browser, { timeout: null, signal })).toSorted((a, b) => a.index - b.index);
}

const tabList = pageTool({
  name: 'browser_tab_list',
  title: 'List the tabs',
  description: 'List the tabs.',
  annotations: readsOnly,
  output: Tabs,
  async run(context) {
    const tabs = await tabsOf(context);
    const lines = tabs.map(
      ({ index, title, url, isActive }) =>
        `[${index}] ${shownUrl(title)} (${shownUrl(url)})${isActive ? ' active' : ''}`,
    );
    return { text: lines.join('\n'), data: { tabList: tabs.map(tabView) } };
  },
});

const switchTab = actTool({
  name: 'browser_switch_tab',
  title: 'Switch to a tab',
  description: 'Bring a tab to the front and show its page.',
  input: z.object({ index: z.int().min(0).describe('From browser_tab_list.') }),
  async run(context, { index }) {
    const { deps, call } = context;
    const tabs = await tabsOf(context);
    const tab = tabs.find((one) => one.index === index);
    if (!tab) {
      const message = `no tab has index ${index}; there are ${tabs.length}`;
      throw new CoreError('tab_not_found', message, { next: { operation: 'browser.listTabs' } });
    }
    await activateTab(deps.browser, tab.id, { timeout: null, signal: call.signal });
    return await showTab(context, `Switched to tab ${index}.`, tab);
  },
});

const closeTab = pageTool({
  name: 'browser_close_tab',
  title: 'Close the tab',
  description: 'Close the current tab.',
  annotations: acts,
  output: Tabs,
  async run(context) {
    const [active] = (await tabsOf(context)).filter(({ isActive }) => isActive);
    if (!active)
      throw new CoreError('tab_not_found', 'the browser has no tab', { next: { operation: 'browser.openTab' } });
    await close(context.deps.browser, active.id, { timeout: null, signal: context.call.signal });
    const tabs = await tabsOf(context);
    return { text: `Closed tab ${active.index}; ${tabs.length} left.`, data: { tabList: tabs.map(tabView) } };
  },
});

const closeBrowser = pageTool({
  name: 'browser_close',
  title: 'Close all tabs',
  description: 'Close all tabs; an empty one remains.',
  annotations: acts,
  output: Tabs,
  async run(context) {
    const options = { timeout: null, signal: context.call.signal };
    for (const { id } of await tabsOf(context)) {
      // Pages may close their popups when they go.
      await nullOn('tab_not_found', close(context.deps.browser, id, options));
    }
    return { text: 'Closed all tabs.', data: { tabList: (await tabsOf(context)).map(tabView) } };
  },
});

export const tabTools = { navigate, goBack, goForward, newTab, tabList, switchTab, closeTab, closeBrowser };
