/** `browser_get_info`: describes the browser of the sandbox and the URLs that reach it. */
import { z } from 'zod';
import { dataOf } from '../../../kit/answer.ts';
import { getBrowser } from '../../browser/browser.ts';
import { refusalOfV2 } from '../../v2/refusal.ts';
import { readsOnly, tool } from '../app.ts';
import { contextOf, noInputs } from '../routes.ts';

const route = getBrowser({ prefix: '/v2', suffix: '', refuse: refusalOfV2 });

export const browserGetInfo = tool({
  name: 'browser_get_info',
  title: 'Describe the browser',
  description: 'Describe the browser: version, viewport, and the URLs of its DevTools protocol and its VNC view.',
  annotations: readsOnly,
  input: z.object({}),
  output: route.data,
  async run(deps, _input, call) {
    const data = dataOf(await route.handle(deps, { ...noInputs, context: contextOf(call) }));
    const { version, viewport, page_viewport: page, cdp_url: cdp, vnc_url: vnc } = data;
    const sizes = `display ${viewport.width}x${viewport.height}${page ? `, page ${page.width}x${page.height}` : ''}`;
    return { text: `${version}, ${sizes}\nDevTools protocol: ${cdp}\nVNC: ${vnc}`, data };
  },
});
