/** Reads, sets and deletes the cookies of a browser. Cookies have the fields of the DevTools protocol. */
import { CdpRefusal } from '../../protocols/cdp-errors.ts';
import { CoreError } from '../../kit/errors.ts';
import type { CdpParams, CdpResult } from '../../platform/clients/cdp-connection.ts';
import type { Browser, CallOptions } from './browser.ts';
import type { ConnectedBrowser } from './connected-browser.ts';

export type Cookie = CdpResult<'Storage.getCookies'>['cookies'][number];
export type CookieParam = CdpParams<'Storage.setCookies'>['cookies'][number];

export interface CookieFilter {
  readonly name: string | null;
  /** Cookies that the browser would send to one of these; null for all. */
  readonly urls: readonly string[] | null;
  readonly domain: string | null;
}

export async function listCookies(browser: Browser, filter: CookieFilter, options: CallOptions) {
  return await browser.call(options, async ({ root }, signal) => {
    const { cookies } = await root.send('Storage.getCookies', {}, signal);
    return cookies.filter(matching(filter));
  });
}

/** Throws `bad_argument` for a cookie that the browser refuses, and sets none then. */
export async function setCookies(
  browser: Browser,
  cookies: readonly CookieParam[],
  options: CallOptions,
): Promise<void> {
  await browser.call(options, async (connected, signal) => {
    const placed = await Promise.all(cookies.map((cookie) => withPlace(connected, cookie, signal)));
    try {
      await connected.root.send('Storage.setCookies', { cookies: placed }, signal);
    } catch (error) {
      if (!(error instanceof CdpRefusal)) throw error;
      throw new CoreError('bad_argument', `the browser has refused the cookies: ${error.message}`, {
        hint: 'Each needs a name, a value, and a url or a domain that may set it.',
      });
    }
  });
}

/** Returns how many cookies were deleted. */
export async function deleteCookies(browser: Browser, filter: CookieFilter, options: CallOptions): Promise<number> {
  return await browser.call(options, async (connected, signal) => {
    const { root } = connected;
    const { cookies } = await root.send('Storage.getCookies', {}, signal);
    const doomed = cookies.filter(matching(filter));
    if (doomed.length === cookies.length) {
      await root.send('Storage.clearCookies', {}, signal);
      return doomed.length;
    }
    // Only a page can delete a single cookie.
    const tabId = (await connected.activeId(signal)) ?? (await connected.openTab(signal));
    const { session } = await connected.page(tabId, signal);
    await Promise.all(
      doomed.map(({ name, domain, path, partitionKey }) =>
        session.send('Network.deleteCookies', { name, domain, path, ...(partitionKey && { partitionKey }) }, signal),
      ),
    );
    return doomed.length;
  });
}

/** A cookie without a place belongs to the page of the active tab. */
async function withPlace(connected: ConnectedBrowser, cookie: CookieParam, signal: AbortSignal): Promise<CookieParam> {
  if (cookie.url !== undefined || cookie.domain !== undefined) return cookie;
  const activeId = await connected.activeId(signal);
  const url = connected.tabs().find(({ targetId }) => targetId === activeId)?.url ?? '';
  if (/^https?:/.test(url)) return { ...cookie, url };
  throw new CoreError('bad_argument', `cookie ${cookie.name} has neither a url nor a domain`, {
    hint: 'Pass one of them. They may be left out only while the active tab shows an http: or https: page.',
  });
}

function matching({ name, urls, domain }: CookieFilter): (cookie: Cookie) => boolean {
  const targets = urls?.map(targetOf);
  const wanted = domain?.replace(/^\./, '');
  return (cookie) =>
    (name === null || cookie.name === name) &&
    (wanted === undefined || cookie.domain.replace(/^\./, '') === wanted) &&
    (targets === undefined || targets.some((url) => isSentTo(cookie, url)));
}

function targetOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new CoreError('bad_argument', `${text} is not an absolute URL`);
  return url;
}

/** The rules of RFC 6265, 5.4: domain, path and secure. */
function isSentTo({ domain, path, secure }: Cookie, { hostname, pathname, protocol }: URL): boolean {
  const isInDomain = domain.startsWith('.') ? `.${hostname}`.endsWith(domain) : hostname === domain;
  const isInPath = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isInDomain && isInPath && (!secure || protocol === 'https:' || hostname === 'localhost');
}
