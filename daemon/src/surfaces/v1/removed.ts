/** Every route of the 1.x server that is gone, and what to use in its place: one table, answered with 404. */

interface RemovedRoute {
  /** Absent: every method. */
  readonly method?: string;
  /** A `*` at the end stands for anything behind it, a `{}` for one segment. */
  readonly path: string;
  readonly hint: string;
}

const skills =
  'Put skill folders on disk, point SVC_SKILLS_PATH at them, and read them with the MCP tool sandbox_load_skill.';
const hooks = 'The images run RUN_HOOK_INIT, RUN_HOOK_PRE_SERVICES and RUN_HOOK_POST_READY.';
const observe = 'GET /metrics and OTLP traces tell how the sandbox does.';
const cdp = 'Drive pages with a client of the browser protocol: GET /v1/browser/info names its URL.';
const mcp = 'POST /mcp is the one entry: tools/list names every tool, tools/call runs one.';
const proxy = 'Set PROXY_SERVER and PROXY_MAP when the sandbox is started.';
const apiKey = 'Send the API key as Authorization: Bearer <key>, x-api-key, or ?api_key=<key>.';

const removedRoutes: readonly RemovedRoute[] = [
  { path: '/v1/skills', hint: skills },
  { path: '/v1/skills/*', hint: skills },
  { path: '/v1/sandbox/hooks', hint: hooks },
  { path: '/v1/sandbox/hooks/*', hint: hooks },
  { path: '/v1/util/convert_to_markdown', hint: 'Run a converter as a command.' },
  { path: '/v1/sandbox/observe/*', hint: observe },
  { path: '/v1/browser/captcha/*', hint: cdp },
  { path: '/v1/browser/state/*', hint: cdp },
  { path: '/v1/browser/restart', hint: 'Restart the browser with the supervisor of the image.' },
  { path: '/v1/browser/proxy.pac', hint: proxy },
  { path: '/v1/browser/network/route', hint: cdp },
  { path: '/v1/browser/network/headers', hint: cdp },
  { path: '/v1/browser/network/scoped_headers', hint: cdp },
  { path: '/v1/browser/network/export_har', hint: cdp },
  { path: '/v1/browser/page/*', hint: cdp },
  { path: '/v1/proxy/*', hint: proxy },
  { path: '/v1/mcp/*', hint: mcp },
  {
    method: 'PATCH',
    path: '/v1/nodejs/sessions/{}',
    hint: 'Delete the session and create one with the settings wanted.',
  },
  { method: 'POST', path: '/tickets', hint: apiKey },
  { method: 'GET', path: '/auth', hint: apiKey },
];

const patterns = removedRoutes.map((route) => ({ ...route, pattern: patternOf(route.path) }));

/** What to do instead of a removed route; null when the route was never one. */
export function removedHint(method: string, path: string): string | null {
  const found = patterns.find((route) => (route.method ?? method) === method && route.pattern.test(path));
  return found ? `This route of the 1.x server is gone. ${found.hint}` : null;
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.?+^$()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('{}', '[^/]+').replace(/\*$/, '.+')}/?$`);
}
