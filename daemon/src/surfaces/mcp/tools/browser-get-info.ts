/** `browser_get_info`: describes the browser of the sandbox and the URLs that reach it. */
import { BrowserInfo, describeBrowser } from '../../browser/info.ts';
import { readsOnly, tool } from '../app.ts';

export const browserGetInfo = tool({
  name: 'browser_get_info',
  title: 'Describe the browser',
  description: 'Describe the browser: version, viewport, and the URLs of its DevTools protocol and its VNC view.',
  annotations: readsOnly,
  output: BrowserInfo,
  async run(deps, _input, { context, signal }) {
    const data = await describeBrowser(deps, { ...context, signal });
    const { version, viewport, page_viewport: page, cdp_url: cdp, vnc_url: vnc } = data;
    const sizes = `display ${viewport.width}x${viewport.height}${page ? `, page ${page.width}x${page.height}` : ''}`;
    return { text: `${version}, ${sizes}\nDevTools protocol: ${cdp}\nVNC: ${vnc}`, data };
  },
});
