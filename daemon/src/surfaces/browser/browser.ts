/** The routes of the browser itself: its description and its DevTools protocol. */
import { z } from 'zod';
import { sendCommand } from '../../core/browser/command.ts';
import { browserInfo } from '../../core/browser/info.ts';
import { publicOrigin } from '../../http/guard/origin.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { browserRoute } from './app.ts';
import { callOptions, pageOptions, tab, timeout } from './inputs.ts';

const Viewport = z.object({ width: z.int(), height: z.int() }).meta({ id: 'BrowserViewport' });

export const getBrowser = browserRoute({
  operation: 'browser.info',
  method: 'GET',
  path: '/browser/info',
  summary: 'Describe the browser and the URLs that reach it',
  data: z
    .object({
      user_agent: z.string(),
      cdp_url: z.string(),
      vnc_url: z.string(),
      cdp_ui_url: z.string().nullable(),
      viewport: Viewport.describe('The display.'),
      page_viewport: Viewport.nullable().describe('The page inside the window; null when it does not answer.'),
      version: z.string().describe('As in Chrome/156.0.8078.79.'),
    })
    .meta({ id: 'BrowserInfoResult' }),
  errors: ['unavailable', 'page_timeout'],
  async handle({ browser }, { context }) {
    const { version, userAgent, socketPath, activeTabId, screen, page } = await browserInfo(
      browser,
      callOptions(context),
    );
    const urls = publicUrls(context);
    return {
      user_agent: userAgent,
      cdp_url: urls.socket(socketPath),
      vnc_url: urls.viewer,
      cdp_ui_url: activeTabId === null ? null : urls.devTools(activeTabId),
      viewport: screen,
      page_viewport: page,
      version,
    };
  },
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
  errors: ['unavailable', 'tab_not_found', 'bad_argument', 'page_timeout', 'ref_stale'],
  handle: ({ browser }, { body, context }) =>
    sendCommand(browser, {
      ...pageOptions(body, context),
      ...{ method: body.method, params: body.params, isForBrowser: body.browser },
    }),
});

/** The URLs under which the gateway of an image serves the browser; see `publicOrigin`. */
function publicUrls({ headers, keyInUrl }: RequestContext) {
  const origin = publicOrigin(headers);
  const [scheme, rest] = origin.split('://') as [string, string];
  const socketScheme = scheme === 'https' ? 'wss' : 'ws';
  const key = keyInUrl === null ? null : `api_key=${encodeURIComponent(keyInUrl)}`;
  const prefix = URL.parse(origin)?.pathname.replace(/^\//, '') ?? '';
  const viewerSocket = `${prefix === '' ? '' : `${prefix}/`}vnc/websockify${key === null ? '' : `?${key}`}`;
  const withKey = (url: string) => (key === null ? url : `${url}${url.includes('?') ? '&' : '?'}${key}`);
  return {
    socket: (path: string) => withKey(`${socketScheme}://${rest}/cdp${path}`),
    viewer: withKey(`${origin}/vnc/index.html?autoconnect=true&path=${encodeURIComponent(viewerSocket)}`),
    devTools: (tabId: string) => {
      const socket = encodeURIComponent(withKey(`${rest}/cdp/devtools/page/${tabId}`));
      return withKey(`${origin}/cdp/devtools/inspector.html?${socketScheme}=${socket}`);
    },
  };
}
