/** The routes of the browser itself: its description and its DevTools protocol. */
import { z } from 'zod';
import { sendCommand } from '../../core/browser/command.ts';
import { browserInfo } from '../../core/browser/info.ts';
import { browserRoute } from './app.ts';
import { BrowserInfo, describeBrowser, publicUrls } from './info.ts';
import { callOptions, pageOptions, tab, timeout } from './inputs.ts';

export const getBrowser = browserRoute({
  operation: 'browser.info',
  method: 'GET',
  path: '/browser/info',
  summary: 'Describe the browser and the URLs that reach it',
  data: BrowserInfo,
  errors: ['unavailable', 'page_timeout'],
  handle: (deps, { context }) => describeBrowser(deps, context),
});

export const getCdp = browserRoute({
  operation: 'browser.cdp_url',
  method: 'GET',
  path: '/browser/cdp',
  summary: 'Return the URL of the DevTools protocol',
  data: z.object({ cdp_url: z.string() }),
  errors: ['unavailable', 'page_timeout'],
  async handle({ browser }, { context }) {
    const { socketPath } = await browserInfo(browser, callOptions(context));
    return { cdp_url: publicUrls(context).socket(socketPath) };
  },
});

export const sendCdp = browserRoute({
  operation: 'browser.cdp',
  method: 'POST',
  path: '/browser/cdp',
  summary: 'Send one command of the DevTools protocol and return its result',
  body: z.object({
    method: z.string().min(1).describe('As in Page.navigate.'),
    params: z.record(z.string(), z.unknown()).default({}),
    browser: z.boolean().default(false).describe('To the browser instead of a page.'),
    ...tab,
    timeout,
  }),
  data: z.unknown(),
  errors: ['unavailable', 'tab_not_found', 'bad_argument', 'page_timeout', 'ref_stale', 'ref_malformed'],
  handle: ({ browser }, { body, context }) =>
    sendCommand(browser, {
      ...pageOptions(body, context),
      ...{ method: body.method, params: body.params, isForBrowser: body.browser },
    }),
});
