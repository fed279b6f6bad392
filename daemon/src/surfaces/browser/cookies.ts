/** The routes of a browser's cookies, which have the fields of the DevTools protocol as in 1.x. */
import { z } from 'zod';
import { deleteCookies, listCookies, setCookies, type CookieParam } from '../../core/browser/cookies.ts';
import { browserRoute } from './app.ts';
import { callOptions } from './inputs.ts';

/** Further fields of the protocol, such as `httpOnly` and `sameSite`, are forwarded. */
const Cookie = z
  .looseObject({
    name: z.string(),
    value: z.string(),
    url: z.string().optional(),
    domain: z.string().optional(),
    path: z.string().optional(),
    secure: z.boolean().optional(),
    expires: z.number().optional().describe('Seconds since 1970; a session cookie by default.'),
  })
  .describe('With further fields of the DevTools protocol, such as httpOnly and sameSite.')
  .meta({ id: 'BrowserCookie' });

export const getCookies = browserRoute({
  operation: 'browser.cookies',
  method: 'GET',
  path: '/browser/cookies',
  summary: 'List the cookies',
  query: z.object({
    urls: z.string().nullish().describe('Only those for these URLs, separated by commas.'),
    domain: z.string().nullish().describe('Only those of this domain.'),
  }),
  data: z.array(z.unknown()),
  errors: ['unavailable', 'bad_argument', 'page_timeout'],
  async handle({ browser }, { query: { urls, domain = null }, context }) {
    const list = urls?.split(',').map((url) => url.trim());
    const filter = { name: null, urls: list?.filter(Boolean) ?? null, domain };
    return [...(await listCookies(browser, filter, callOptions(context)))];
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
    await setCookies(browser, cookies as readonly CookieParam[], callOptions(context));
    return { count: cookies.length };
  },
});

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
  async handle({ browser }, { query: { name = null, url, domain = null, all = false }, context }) {
    const urls = url === undefined || url === null ? null : [url];
    const filter = all ? { name: null, urls: null, domain: null } : { name, urls, domain };
    return { count: await deleteCookies(browser, filter, callOptions(context)) };
  },
});
