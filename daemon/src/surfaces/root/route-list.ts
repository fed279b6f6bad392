/** Serves the list of all routes of v2, which a model can read before its first call. */
import { route } from './app.ts';

const head = `# boxkeep

> Runs inside a sandbox, and serves its commands, files, terminals, code, browser and desktop over HTTP.

Send \`Authorization: Bearer <key>\`. Most answers are JSON: \`{success, message, data, hint}\`. \`hint\` says what to call next. Of a failure, \`data.code\` is the kind, and \`data.retryable\` says whether the same call may succeed later. Fields in braces are required, of those with | one. Unknown fields are refused. GET /v2/openapi.json describes every field.

## Routes

`;

const list = {
  method: 'GET',
  raw: { contentType: 'text/plain', description: 'One route a line' },
  handle: async ({ routeList }: { routeList: () => Promise<string> }) =>
    new Response(`${head}${await routeList()}`, { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
} as const;

export const routesOfV2 = route({
  ...list,
  operation: 'operations.routes',
  path: '/v2',
  summary: 'List every route of v2, one a line',
});

/** The specification does not list these routes as public: with a key set, they need the key. */
export const llmsText = route({
  ...list,
  operation: 'operations.llms_txt',
  path: '/llms.txt',
  summary: 'The same list, where models look for it',
});
