/** The route of the newest network requests. */
import { z } from 'zod';
import { browserRoute } from './app.ts';
import { callOptions } from './inputs.ts';
import { NetworkRequestView, requestView } from './views.ts';

export const listRequests = browserRoute({
  operation: 'browser.requests',
  method: 'GET',
  path: '/browser/network/requests',
  hasEffect: true,
  summary: 'List the newest requests of the pages in use',
  query: z.object({
    filter: z.string().nullish().describe('Only those whose URL has this text.'),
    limit: z.int().default(100),
    clear: z.boolean().default(false).describe('Forget all requests after this answer.'),
  }),
  data: z.array(NetworkRequestView),
  errors: ['unavailable', 'page_timeout'],
  async handle({ browser }, { query: { filter = null, limit, clear }, context }) {
    await browser.watchActive(callOptions(context));
    const requests = browser.requests.list(limit, filter).map(requestView);
    if (clear) browser.requests.clear();
    return requests;
  },
});
