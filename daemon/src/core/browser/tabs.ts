/** Lists, opens, activates and closes the tabs of a browser. */
import { untilAborted } from '../../kit/shared-work.ts';
import type { Browser, CallOptions } from './browser.ts';
import type { ConnectedBrowser, TargetInfo } from './connected-browser.ts';
import { noTab } from './failures.ts';
import { navigate } from './navigate.ts';

export interface Tab {
  /** The id of the CDP target. */
  readonly id: string;
  readonly index: number;
  readonly type: string;
  readonly title: string;
  readonly url: string;
  readonly isActive: boolean;
}

/** The active tab comes first; `index` is the position in the browser's own list. */
export async function listTabs(browser: Browser, options: CallOptions): Promise<readonly Tab[]> {
  return await browser.call(options, async (connected, signal) => {
    const [activeId] = await Promise.all([connected.activeId(signal), connected.readTitles(signal)]);
    const tabs = connected.tabs().map((target, index) => tabOf(target, index, activeId));
    return tabs.toSorted((a, b) => Number(b.isActive) - Number(a.isActive));
  });
}

/** Opens a tab in the foreground. A tab whose URL cannot be loaded is closed again. */
export async function openTab(browser: Browser, url: string | null, options: CallOptions): Promise<Tab> {
  const tabId = await browser.call(options, (connected, signal) => connected.openTab(signal));
  const place = url === null ? { url: 'about:blank', title: '' } : await loadInto(browser, tabId, url, options);
  const tabs = await listTabs(browser, options);
  const tab = tabs.find(({ id }) => id === tabId);
  if (!tab) throw noTab(tabId);
  // The list of the browser is a moment behind the page.
  return { ...tab, url: place.url, title: place.title };
}

async function loadInto(browser: Browser, tabId: string, url: string, options: CallOptions) {
  try {
    const to = { url };
    const { value } = await navigate(browser, { ...options, tabId, to, waitUntil: 'domcontentloaded' });
    return value;
  } catch (error) {
    await closeTab(browser, tabId, options);
    throw error;
  }
}

/** Throws `tab_not_found`. */
export async function activateTab(browser: Browser, tabId: string, options: CallOptions): Promise<void> {
  assertId(tabId);
  await browser.call(options, async (connected, signal) => {
    if (!connected.hasTab(tabId)) throw noTab(tabId);
    await connected.activate(tabId, signal);
  });
}

/** Throws `tab_not_found`. Many browsers end with their last tab, so an empty one replaces it. */
export async function closeTab(browser: Browser, tabId: string, options: CallOptions): Promise<void> {
  assertId(tabId);
  await browser.call(options, async (connected, signal) => {
    if (!connected.hasTab(tabId)) throw noTab(tabId);
    if (connected.tabs().length === 1) await connected.openTab(signal);
    const page = await connected.page(tabId, signal);
    using _dialogs = page.dialogs.begin({ action: 'accept', text: null });
    const closed = closedTab(connected, tabId, signal);
    await connected.root.send('Target.closeTarget', { targetId: tabId }, signal);
    await closed;
  });
}

/** 1.x clients may address a tab by its position, which no browser is needed to refuse. */
function assertId(tabId: string): void {
  if (/^\d{1,3}$/.test(tabId)) throw noTab(tabId);
}

async function closedTab({ root }: ConnectedBrowser, tabId: string, signal: AbortSignal): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const remove = root.on('Target.targetDestroyed', ({ targetId }) => targetId === tabId && resolve());
  await untilAborted(closed, signal).finally(remove);
}

function tabOf({ targetId, type, title, url }: TargetInfo, index: number, activeId: string | null): Tab {
  return { id: targetId, index, type, title, url, isActive: targetId === activeId };
}
