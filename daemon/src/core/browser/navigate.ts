/** Loads a URL into a page, or moves through its history, and waits until the page has loaded. */
import { advise } from '../../kit/advice.ts';
import { CoreError, type ErrorDetails } from '../../kit/errors.ts';
import type { Browser, PageCall, PageCallOptions, PageResult } from './browser.ts';
import { LoadWatch, type LoadState } from './load-watch.ts';
import { placeOf } from './place.ts';
import { pageUrl, shortened } from './url.ts';

export const historySteps = ['back', 'forward', 'reload'] as const;
export type HistoryStep = (typeof historySteps)[number];

export interface NavigateSpec extends PageCallOptions {
  readonly to: { readonly url: string } | { readonly history: HistoryStep };
  readonly waitUntil: LoadState;
}

export interface Navigated {
  readonly tabId: string;
  readonly url: string;
  readonly title: string;
  /** The HTTP status of the document; null where there is none. */
  readonly status: number | null;
}

/** Throws `navigation_failed`, and `page_timeout` when the page has not loaded in time. */
export async function navigate(
  browser: Browser,
  { to, waitUntil, ...options }: NavigateSpec,
): Promise<PageResult<Navigated>> {
  const destination = 'url' in to ? { url: pageUrl(to.url) } : to;
  return await browser.onPage({ ...options, isLoading: true }, async (call) => {
    const { page, signal } = call;
    await page.makeReady(signal);
    await page.reports(signal);
    using watch = new LoadWatch(page.session, page.targetId);
    const loaderId = await stoppedWhenGivenUp(call, async () =>
      'url' in destination
        ? await loadAlone(call, destination.url, watch)
        : await move(call, destination.history, watch),
    );
    page.recover();
    if (loaderId !== null) await loaded(call, watch, loaderId, waitUntil);
    const status = loaderId === null ? null : watch.statusOf(loaderId);
    return { tabId: page.targetId, ...(await placeOf(call, titleMs, () => watch.url)), status };
  });
}

/** A page handles no call while it waits for the server of a navigation, also of one that the caller has given up. */
async function stoppedWhenGivenUp<T>({ page, signal }: PageCall, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    if (signal.aborted) page.session.tell('Page.stopLoading');
    throw error;
  }
}

/** A page that is left can start to load itself again, which would replace the new document. */
const maxRivals = 5;

/** Returns the loader id of the new document; null when there is none. */
async function loadAlone(call: PageCall, url: string, watch: LoadWatch): Promise<string | null> {
  for (let attempt = 1; attempt <= maxRivals; attempt += 1) {
    const loaderId = await load(call, url, watch);
    if (loaderId === null || !watch.hasRival(loaderId)) return loaderId;
    call.page.session.tell('Page.stopLoading');
  }
  throw failed(url, 'the page before loads another document each time');
}

async function load({ page, signal, timeoutMs }: PageCall, url: string, watch: LoadWatch): Promise<string | null> {
  try {
    const answer = await page.session.send('Page.navigate', { url }, signal);
    const { loaderId = null, errorText = '', isDownload = false } = answer;
    if (isDownload) return null;
    if (errorText !== '') throw failed(url, errorText);
    if (loaderId !== null) await watch.begun(loaderId, signal);
    return loaderId;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw slow(`${shortened(url)} did not answer`, timeoutMs, {
      hint: 'Check the server, or load another URL.',
      advice: advise`Or pass a longer ${'timeout'}.`,
    });
  }
}

async function move({ page, signal }: PageCall, step: HistoryStep, watch: LoadWatch): Promise<string | null> {
  if (step === 'reload') {
    await page.session.send('Page.reload', {}, signal);
  } else {
    const { currentIndex, entries } = await page.session.send('Page.getNavigationHistory', undefined, signal);
    const entry = entries[currentIndex + (step === 'back' ? -1 : 1)];
    if (!entry) throw new CoreError('bad_argument', `the tab has no page to go ${step} to`);
    await page.session.send('Page.navigateToHistoryEntry', { entryId: entry.id }, signal);
  }
  const { loaderId, unreachableUrl, isRestored } = await watch.committed(signal);
  if (unreachableUrl !== null) throw failed(unreachableUrl, 'the browser shows an error page');
  return isRestored ? null : loaderId;
}

async function loaded(
  { signal, timeoutMs }: PageCall,
  watch: LoadWatch,
  loaderId: string,
  state: LoadState,
): Promise<void> {
  try {
    await watch.reached(loaderId, state, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw slow(`the page did not reach "${state}"`, timeoutMs, {
      hint: 'The page can be used as it is.',
      advice: advise`Pass ${'waitUntil'} "domcontentloaded" or "none" to wait for less.`,
    });
  }
}

/** Time for a busy page to report its title. */
const titleMs = 2000;

function failed(url: string, reason: string): CoreError {
  return new CoreError('navigation_failed', `${shortened(url)} could not be loaded: ${reason}`, {
    hint: 'Check the URL, and that its server is running and reachable from the sandbox.',
  });
}

function slow(what: string, timeoutMs: number, details: ErrorDetails): CoreError {
  return new CoreError('page_timeout', `${what} within ${timeoutMs / 1000} s`, details);
}
