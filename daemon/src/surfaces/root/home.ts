/** Serves the console page at `/`, which shows the terminals of the sandbox in a browser. */
import { route } from './app.ts';

export const home = route({
  operation: 'operations.home',
  method: 'GET',
  path: '/',
  summary: 'Show the console: a page with the terminals; /#/terminal/{id} opens one',
  raw: { contentType: 'text/html', description: 'The page' },
  errors: [],
  handle: async ({ readConsole, frameAncestors }) =>
    new Response(await readConsole(), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `frame-ancestors ${frameAncestors}`,
        'referrer-policy': 'no-referrer',
      },
    }),
});
