/** The v1 routes of the browser itself: what it is, how it looks, and its own protocol. */
import { z } from 'zod';
import { route } from './app.ts';
import { noBrowser } from './unserved.ts';

const Viewport = z.object({ width: z.int(), height: z.int() }).meta({ id: 'BrowserViewport' });

export const getBrowser = route({
  operation: 'browser.info_v1',
  method: 'GET',
  path: '/v1/browser/info',
  summary: 'Tell which browser there is, and the URLs that reach it',
  data: z
    .object({
      user_agent: z.string(),
      cdp_url: z.string(),
      vnc_url: z.string(),
      cdp_ui_url: z.string().nullable(),
      viewport: Viewport.describe('Of the display.'),
      page_viewport: Viewport.nullable().describe('Of the page, which is smaller.'),
    })
    .meta({ id: 'BrowserInfoResult' }),
  errors: ['unavailable'],
  handle: noBrowser,
});

export const takeScreenshot = route({
  operation: 'browser.screenshot_v1',
  method: 'GET',
  path: '/v1/browser/screenshot',
  summary: 'Take a picture of the page',
  query: z.object({
    format: z.enum(['png', 'jpg', 'jpeg']).default('png'),
    quality: z.int().min(0).max(100).nullish(),
  }),
  raw: {
    contentType: ['image/png', 'image/jpeg'],
    description: 'The picture; x-image-width, x-image-height, x-screen-width and x-screen-height tell its sizes',
  },
  errors: ['unavailable'],
  handle: noBrowser,
});

export const getCdp = route({
  operation: 'browser.cdp_url_v1',
  method: 'GET',
  path: '/v1/browser/cdp',
  summary: 'Tell where the DevTools protocol is spoken',
  data: z.object({ cdp_url: z.string() }),
  errors: ['unavailable'],
  handle: noBrowser,
});

export const sendCdp = route({
  operation: 'browser.cdp_v1',
  method: 'POST',
  path: '/v1/browser/cdp',
  summary: 'Send one command of the DevTools protocol, and answer its result',
  body: z.object({
    method: z.string().min(1).describe('As in Page.navigate.'),
    params: z.record(z.string(), z.unknown()).default({}),
    tab_id: z.string().optional().describe('The active page otherwise.'),
    browser: z.boolean().default(false).describe('To the browser instead of a page.'),
  }),
  data: z.unknown(),
  errors: ['unavailable'],
  handle: noBrowser,
});
