/** The page at `/`: what this is and where to go on, for a person with a browser. */
import { route } from './app.ts';

export const home = route({
  operation: 'operations.home',
  method: 'GET',
  path: '/',
  summary: 'Show a page that names the daemon and its documents',
  raw: { contentType: 'text/html', description: 'The page' },
  errors: [],
  handle: ({ version }) => new Response(page(version), { headers: { 'content-type': 'text/html; charset=utf-8' } }),
});

function page(version: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>sandboxd</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #1c2430; }
  code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f2f4f7; border-radius: 4px; }
  code { padding: .1em .3em; } pre { padding: .8em 1em; overflow-x: auto; }
  @media (prefers-color-scheme: dark) { body { background: #14181f; color: #d8dee8; } code, pre { background: #222935; } a { color: #8ab4ff; } }
</style>
<h1>sandboxd ${version}</h1>
<p>This machine takes commands over HTTP.</p>
<pre>curl -s HOST/v2/commands -d '{"command": "uname -a"}'</pre>
<p>Every route: <a href="/v2/openapi.json">/v2/openapi.json</a>. Health: <a href="/health">/health</a>.
With a key set, send it as <code>Authorization: Bearer KEY</code>.</p>
</html>
`;
}
