/** Describes the browser and the URLs that reach it, for the route and the tool. */
import { z } from 'zod';
import { browserInfo } from '../../core/browser/info.ts';
import { publicOrigin } from '../../http/guard/origin.ts';
import type { RequestContext } from '../../http/route/context.ts';
import type { BrowserDeps } from './app.ts';
import { callOptions } from './inputs.ts';
import { namedObject } from '../../operations/inputs.ts';

const Viewport = namedObject('BrowserViewport', { width: z.int(), height: z.int() });

export const BrowserInfo = namedObject('BrowserInfoResult', {
  user_agent: z.string(),
  cdp_url: z.string(),
  vnc_url: z.string(),
  cdp_ui_url: z.string().nullable(),
  viewport: Viewport.describe('The display.'),
  page_viewport: Viewport.nullable().describe('The page inside the window; null when it does not answer.'),
  version: z.string().describe('As in Chrome/156.0.8078.79.'),
});

/** The URLs are those under which the caller reaches the sandbox. */
export async function describeBrowser(
  { browser }: Pick<BrowserDeps, 'browser'>,
  context: RequestContext,
): Promise<z.input<typeof BrowserInfo>> {
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
}

/** The URLs under which the gateway of an image serves the browser; see `publicOrigin`. */
export function publicUrls({ headers, keyInUrl }: RequestContext) {
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
