/** A table of every removed route of the 1.x server with its replacement, which the 404 answer names. */

interface RemovedRoute {
  /** Absent means every method. */
  readonly method?: string;
  /** A `*` at the end matches any rest, a `{}` matches one segment. */
  readonly path: string;
  readonly hint: string;
}

const notYet = 'Nothing replaces it in this version';
const skills = 'The tool sandbox_load_skill of POST /mcp lists and loads the skills in SVC_SKILLS_PATH.';
const hooks = `${notYet}; run what a hook did with POST /v1/bash/exec.`;
const observe = 'GET /metrics and OTLP traces show the state of the sandbox.';
const page =
  'POST /v1/browser/navigate loads a page; snapshot, click, fill and evaluate beside it read it and act on it.';
const browser = `${notYet}; a program can do it over the DevTools protocol of the browser.`;
const mcp = 'POST /mcp lists and calls the tools of the sandbox and of the servers in EXTRA_MCP_SERVERS.';
const proxy =
  'PROXY_SERVER and PROXY_MAP of the images set the proxy of the browser; give a command HTTP_PROXY and HTTPS_PROXY in its env.';
const apiKey = 'Send the API key as Authorization: Bearer <key>, x-api-key, or ?api_key=<key>.';

const removedRoutes: readonly RemovedRoute[] = [
  { path: '/v1/skills', hint: skills },
  { path: '/v1/skills/*', hint: skills },
  { path: '/v1/sandbox/hooks', hint: hooks },
  { path: '/v1/sandbox/hooks/*', hint: hooks },
  { path: '/v1/util/convert_to_markdown', hint: 'Run a converter with POST /v1/bash/exec.' },
  { path: '/v1/sandbox/observe/*', hint: observe },
  { path: '/v1/browser/captcha/*', hint: browser },
  { path: '/v1/browser/state/*', hint: browser },
  { path: '/v1/browser/restart', hint: browser },
  { path: '/v1/browser/proxy.pac', hint: proxy },
  { path: '/v1/browser/network/route', hint: browser },
  { path: '/v1/browser/network/headers', hint: browser },
  { path: '/v1/browser/network/scoped_headers', hint: browser },
  { path: '/v1/browser/network/export_har', hint: browser },
  { path: '/v1/browser/page/*', hint: page },
  { path: '/v1/proxy/*', hint: proxy },
  { path: '/v1/mcp/*', hint: mcp },
  {
    method: 'PATCH',
    path: '/v1/nodejs/sessions/{}',
    hint: 'Delete the session and create one with the settings wanted.',
  },
  { method: 'POST', path: '/tickets', hint: apiKey },
  { method: 'GET', path: '/auth', hint: `${apiKey} A gateway asks GET /internal/auth.` },
];

const patterns = removedRoutes.map((route) => ({ ...route, pattern: patternOf(route.path) }));

/** The replacement for a removed route. Null when the route never existed. */
export function removedHint(method: string, path: string): string | null {
  const found = patterns.find((route) => (route.method ?? method) === method && route.pattern.test(path));
  return found ? `This route of the 1.x server is gone. ${found.hint}` : null;
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.?+^$()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('{}', '[^/]+').replace(/\*$/, '.+')}/?$`);
}
