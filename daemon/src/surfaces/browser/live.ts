/** The route that shows a tab as it changes. */
import { z } from 'zod';
import { tabSource } from '../../core/browser/live/show-tab.ts';
import { LiveClientFrame, liveSocket, LiveServerFrame } from '../../http/stream/live-socket.ts';
import { routesFor, type Route } from '../../http/route/route.ts';
import type { BrowserDeps, Mount } from './app.ts';

export function watchTab({ prefix, suffix, style }: Mount): Route<BrowserDeps> {
  const path = `${prefix}/browser/live`;
  return routesFor<BrowserDeps>(style)({
    operation: `browser.live${suffix}`,
    method: 'GET',
    path,
    summary: 'Watch a tab over a WebSocket that sends a picture whenever the tab changes (docs/protocols/live.md)',
    query: z.object({
      tab_id: z
        .string()
        .min(1)
        .optional()
        .describe('The target id of a tab; by default the active one, also when another tab becomes active.'),
    }),
    socket: { sends: LiveServerFrame, receives: LiveClientFrame },
    errors: ['capacity_reached'],
    handle: ({ browser, ending }, { query, context }) =>
      liveSocket(
        { ending, refuse: style.refuse },
        { path, raw: undefined },
        context,
        tabSource(browser, query.tab_id ?? null),
      ),
  });
}
