/** Serves the console page at `/`, and the scripts of its larger views. */
import { z } from 'zod';
import { route } from './app.ts';

export const home = route({
  operation: 'operations.home',
  method: 'GET',
  path: '/',
  summary: 'Show the console: a page for people; /#/terminal/{id} opens a terminal',
  raw: { contentType: 'text/html', description: 'The page' },
  handle: async ({ readConsole, frameAncestors }) =>
    new Response(await readConsole('page'), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `frame-ancestors ${frameAncestors}`,
        'referrer-policy': 'no-referrer',
      },
    }),
});

/** Not public: with a key set, the page sends the key for the script, as for any other route. */
export const consoleView = route({
  operation: 'operations.console_view',
  method: 'GET',
  path: '/console/{view}',
  summary: 'Read the script of a view, which the console loads when the view is first opened',
  params: z.object({ view: z.enum(['editor', 'terminal']) }),
  raw: { contentType: 'text/javascript', description: 'The script' },
  handle: async ({ readConsole }, { params }) =>
    new Response(await readConsole(params.view), { headers: { 'content-type': 'text/javascript; charset=utf-8' } }),
});
