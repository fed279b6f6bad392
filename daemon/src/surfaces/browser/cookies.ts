/** The routes of a browser's cookies, which have the fields of the DevTools protocol as in 1.x, and snake_case names. */
import { z } from 'zod';
import { deleteCookies, listCookies, setCookies, type CookieParam } from '../../core/browser/cookies.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { browserRoute } from './app.ts';
import { callOptions } from './inputs.ts';
import { namedObject } from '../../operations/inputs.ts';

const sameSite = z.enum(['Strict', 'Lax', 'None']).meta({ id: 'CookieSameSite' }).optional();

/** The names of the DevTools protocol (`Network.CookieParam`), and those in snake_case that differ. */
const Cookie = namedObject('BrowserCookie', {
  name: z.string(),
  value: z.string(),
  url: z.string().optional(),
  domain: z.string().optional(),
  path: z.string().optional(),
  secure: z.boolean().optional(),
  expires: z.number().optional().describe('Seconds since 1970; a session cookie by default.'),
  httpOnly: z.boolean().optional(),
  sameSite,
  http_only: z.boolean().optional().describe('The same as httpOnly.'),
  same_site: sameSite.describe('The same as sameSite.'),
  priority: z.enum(['Low', 'Medium', 'High']).optional(),
  sourceScheme: z.enum(['Unset', 'NonSecure', 'Secure']).optional(),
  sourcePort: z.int().min(-1).max(65_535).optional(),
  partitionKey: z.object({ topLevelSite: z.string(), hasCrossSiteAncestor: z.boolean() }).optional(),
});

export const getCookies = browserRoute({
  operation: 'browser.cookies',
  method: 'GET',
  path: '/browser/cookies',
  summary: 'List the cookies',
  query: z.object({
    urls: z.string().nullish().describe('Only those for these URLs, separated by commas.'),
    url: z.string().nullish().describe('Only those for this URL.'),
    domain: z.string().nullish().describe('Only those of this domain.'),
  }),
  data: z.array(z.unknown()),
  errors: ['unavailable', 'bad_argument', 'page_timeout'],
  async handle({ browser }, { query: { urls, url, domain }, context }) {
    const list = [...(urls?.split(',') ?? []), url ?? ''].map((one) => one.trim()).filter(Boolean);
    // A filter without a value is absent.
    const filter = { name: null, urls: list.length === 0 ? null : list, domain: domain || null };
    const cookies = await listCookies(browser, filter, callOptions(context));
    return cookies.map((cookie) => ({ ...cookie, ...snakeKeys(cookie) }));
  },
});

export const postCookies = browserRoute({
  operation: 'browser.set_cookies',
  method: 'POST',
  path: '/browser/cookies',
  summary: 'Set cookies',
  body: z.object({ cookies: z.array(Cookie).max(1000) }),
  data: z.object({ count: z.int() }),
  errors: ['unavailable', 'bad_argument', 'page_timeout'],
  async handle({ browser }, { body: { cookies }, context }) {
    await setCookies(browser, cookies.map(paramOf), callOptions(context));
    return { count: cookies.length };
  },
});

function paramOf({ http_only: httpOnly, same_site: sameSite, ...cookie }: z.output<typeof Cookie>): CookieParam {
  const named = { ...(httpOnly !== undefined && { httpOnly }), ...(sameSite !== undefined && { sameSite }) };
  return { ...named, ...cookie } as CookieParam;
}

export const removeCookies = browserRoute({
  operation: 'browser.clear_cookies',
  method: 'DELETE',
  path: '/browser/cookies',
  summary: 'Delete the cookies that match, or all',
  query: z.object({
    name: z.string().nullish(),
    url: z.string().nullish().describe('Only those for this URL.'),
    domain: z.string().nullish(),
    all: z.boolean().optional().describe('All cookies, which is also the default without a filter.'),
  }),
  data: z.object({ count: z.int() }),
  errors: ['unavailable', 'bad_argument', 'page_timeout'],
  async handle({ browser }, { query: { name, url, domain, all = false }, context }) {
    const given = { name: name || null, urls: url ? [url] : null, domain: domain || null };
    const filter = all ? { name: null, urls: null, domain: null } : given;
    return { count: await deleteCookies(browser, filter, callOptions(context)) };
  },
});
