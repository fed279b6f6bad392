/** The v1 routes of a browser's tabs, its cookies and what it has loaded. */
import { z } from 'zod';
import { CoreError } from '../../kit/errors.ts';
import { route } from './app.ts';
import { noBrowser } from './unserved.ts';

/** What 1.x lists as it comes; the fields are those of DevTools. */
const Items = z.array(z.unknown());

export const listTabs = route({
  operation: 'browser.tabs_v1',
  method: 'GET',
  path: '/v1/browser/tabs',
  summary: 'List the tabs',
  data: Items,
  errors: ['unavailable'],
  handle: noBrowser,
});

export const openTab = route({
  operation: 'browser.open_tab_v1',
  method: 'POST',
  path: '/v1/browser/tabs',
  summary: 'Open a tab',
  body: z.object({ url: z.string().nullish() }),
  data: z.unknown(),
  errors: ['unavailable'],
  handle: noBrowser,
});

const TabPath = z.object({ target_id: z.string() });

export const closeTab = route({
  operation: 'browser.close_tab_v1',
  method: 'DELETE',
  path: '/v1/browser/tabs/{target_id}',
  summary: 'Close a tab',
  params: TabPath,
  data: z.unknown(),
  errors: ['unavailable', 'tab_not_found'],
  handle: (_deps, { params }) => noTab(params.target_id),
});

export const activateTab = route({
  operation: 'browser.activate_tab_v1',
  method: 'POST',
  path: '/v1/browser/tabs/{target_id}/activate',
  summary: 'Bring a tab to the front',
  params: TabPath,
  data: z.unknown(),
  errors: ['unavailable', 'tab_not_found'],
  handle: (_deps, { params }) => noTab(params.target_id),
});

/** A position, by which 1.x clients call a tab, is no id: that is so without a browser too. */
function noTab(id: string): never {
  if (!/^\d{1,3}$/.test(id)) noBrowser();
  throw new CoreError('tab_not_found', `no tab with id ${id}`, {
    hint: 'A tab is called by its target_id, not by its position: GET /v1/browser/tabs lists them.',
  });
}

export const listCookies = route({
  operation: 'browser.cookies_v1',
  method: 'GET',
  path: '/v1/browser/cookies',
  summary: 'List the cookies',
  query: z.object({ urls: z.string().nullish().describe('Only those of these URLs, separated by commas.') }),
  data: Items,
  errors: ['unavailable'],
  handle: noBrowser,
});

export const setCookies = route({
  operation: 'browser.set_cookies_v1',
  method: 'POST',
  path: '/v1/browser/cookies',
  summary: 'Set cookies',
  body: z.object({ cookies: z.array(z.record(z.string(), z.unknown())) }),
  data: z.unknown(),
  errors: ['unavailable'],
  handle: noBrowser,
});

export const clearCookies = route({
  operation: 'browser.clear_cookies_v1',
  method: 'DELETE',
  path: '/v1/browser/cookies',
  summary: 'Clear the cookies',
  data: z.unknown(),
  errors: ['unavailable'],
  handle: noBrowser,
});

export const listRequests = route({
  operation: 'browser.requests_v1',
  method: 'GET',
  path: '/v1/browser/network/requests',
  summary: 'List the newest requests of the pages',
  query: z.object({
    filter: z.string().nullish().describe('Only those whose URL has this text.'),
    limit: z.int().default(100),
  }),
  data: Items,
  errors: ['unavailable'],
  handle: noBrowser,
});
