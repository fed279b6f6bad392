/** The environment variables of the images, each by its effect behind the gateway. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

const page = (title: string) => `data:text/html,<title>${title}</title>`;
/** Answers every request, also one that is meant for a proxy. */
const webServer = (port: number, title: string) =>
  `python3 -c '
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-type", "text/html"); self.end_headers()
        self.wfile.write(b"<title>${title}</title>")
http.server.HTTPServer(("127.0.0.1", ${port}), Answer).serve_forever()'`;

/** Processes by their arguments, files, and the environments that the account can read. */
const searchFor = (pattern: string) => `
  ps axww -o args | grep '${pattern}'
  grep -rl '${pattern}' /home /tmp /var/log /var/lib/boxkeep /run/image/log
  setpriv --reuid agent --clear-groups sh -c 'cat /proc/[0-9]*/environ' 2>/dev/null | tr '\\0' '\\n' | grep '${pattern}'
  true`;

let plain: Container;
let changed: Container;

beforeAll(async () => {
  plain = await Container.start();
  const hook =
    'mkdir -p /srv/skills/tea && printf -- "---\\nname: tea\\ndescription: Makes tea.\\n---\\n" >/srv/skills/tea/SKILL.md';
  changed = await Container.start({
    env: {
      ...{ DISABLE_CODE_SERVER: 'false', DISABLE_JUPYTER: 'false', JUPYTER_POOL_SIZE: '1', WORKSPACE: '/srv' },
      ...{ EXTRA_MCP_SERVERS: '{"again": {"url": "http://127.0.0.1:8123/mcp", "prefix": "again"}}' },
      ...{ MCP_SERVER_BROWSER_PORT: '8123', BROWSER_START_MODE: 'auto', HOMEPAGE: page('home') },
      ...{ BROWSER_EXTRA_ARGS: '--user-agent=image-test --lang=de', SVC_SKILLS_PATH: '/srv/skills' },
      ...{ PROXY_MAP: 'mapped.example=127.0.0.1:3100', RUN_HOOK_INIT: hook },
    },
  });
});
afterAll(async () => {
  await plain[Symbol.asyncDispose]();
  await changed[Symbol.asyncDispose]();
});

const titleOf = async (container: Container, url: string) =>
  (await container.ok('POST /v2/browser/navigate', { url }))['title'] as string;

test('IMG-4 commands run as the preset account, and the daemon as root', async () => {
  expect(await plain.output('id -un; pwd; command -v python3 node chromium')).toBe(
    'agent\n/home/agent\n/opt/python/bin/python3\n/usr/local/bin/node\n/usr/bin/chromium',
  );
  expect(await plain.ok('GET /v2/sandbox')).toMatchObject({ user: 'root', default_user: 'agent' });
});

test('IMG-21 IMG-22 BROWSER_EXTRA_ARGS and HOMEPAGE change how the browser starts', async () => {
  expect(await changed.ok('GET /v2/browser/info')).toMatchObject({ user_agent: 'image-test' });
  const tabs = await (await changed.fetch('/cdp/json/list')).text();
  expect(tabs).toContain('"title": "home"');
});

test('IMG-8 SANDBOX_API_KEY sets the key, which is in no log, file and process of the account', async () => {
  const key = 'image-canary-7361';
  await using container = await Container.start({ env: { SANDBOX_API_KEY: key } });
  const carried = { 'x-svc-api-key': key };
  expect([await container.status('/v2/sandbox'), await container.status('/v2/sandbox', carried)]).toEqual([401, 200]);
  await until(
    'the browser is ready',
    async () => (await container.status('/cdp/json/version', carried)) === 200,
    slowMs,
  );
  expect(await container.status(`/vnc/?api_key=${key}`)).toBe(200);
  expect(container.logs()).not.toContain(key);
  // `podman exec` passes the key of the container to the search itself.
  const found = container.exec('env', '-u', 'SANDBOX_API_KEY', 'sh', '-c', searchFor('image-[c]anary'));
  expect(found).toBe('');
  // The settings of the services are not those of a command.
  expect(await changed.output('env')).not.toMatch(/^(BOXKEEP_HAS_KEY|SUPERVISOR_|RUN_HOOK_|PROXY_|START_)/m);
});

test('IMG-8 a container that does not run as root hides the key from its commands too', async () => {
  const key = 'image-canary-7361';
  const args = ['--user', '1000', '--health-interval', '1s'];
  await using container = await Container.start({ key, args, env: { BROWSER_START_MODE: 'auto' } });
  for (const path of ['/vnc/', '/cdp/json/version']) expect(await container.status(`${path}?api_key=${key}`)).toBe(200);
  const collect = `
    end=$(($(date +%s) + 5))
    while [ "$(date +%s)" -lt "$end" ]; do cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; done 2>/dev/null | grep -ac "image-[c]anary"
    grep -rla "image-[c]anary" /dev/shm /tmp /run /home /var/log 2>/dev/null
    true`;
  const found = container.ok('POST /v2/commands', { command: collect });
  for (let times = 0; times < 3; times++) container.checkHealth();
  expect((await found)['stdout']).toBe('0\n');
  const search = `python3 - <<'END'
import os
needle = b"image-can" + b"ary-7361"
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid(): continue
    try:
        name = open(f"/proc/{pid}/comm").read().strip()
        regions = [line.split() for line in open(f"/proc/{pid}/maps")]
        memory = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError: continue
    for region in regions:
        start, end = (int(part, 16) for part in region[0].split("-"))
        if "w" not in region[1] or end - start > 1 << 28: continue
        try:
            memory.seek(start)
            if needle in memory.read(end - start): print(pid, name); break
        except (OSError, OverflowError): pass
END`;
  expect(await container.output(search)).toBe('');
  expect(container.logs()).not.toContain('start without --init');
});

test('IMG-8 a container that shows its key through another first process says so', async () => {
  const entrypoint = '["/usr/bin/tini", "--", "/opt/boxkeep/start/entry"]';
  const args = ['--user', '1000', '--entrypoint', entrypoint];
  await using container = await Container.start({ key: 'shown-canary', args });
  expect(container.logs()).toContain('start without --init');
});

test('IMG-4 no program of root is one that the account could have replaced', async () => {
  const plant =
    'for name in sed cp curl nginx jq; do printf "#!/bin/sh\nid -u >>/tmp/planted\n" >/opt/python/bin/$name; done';
  await using container = await Container.start({ network: 'bridge' });
  await container.output(`${plant}; chmod +x /opt/python/bin/*`);
  container.kill();
  await until('the container has ended', () => !container.isRunning, slowMs);
  container.startAgain();
  await container.untilHealthy();
  expect(await container.output('grep -cx 0 /tmp/planted 2>/dev/null; true')).toBe('');
});

test('IMG-4 commands install packages of Python and Node, and find the usual tools', async () => {
  const install =
    'cd /tmp && mkdir own && cd own && printf \'{"name":"own-tool","version":"1.0.0","bin":"t.js"}\' >package.json';
  const script =
    'printf "#!/usr/bin/env node\nconsole.log(6 * 7)\n" >t.js && npm install -g . >/dev/null 2>&1; own-tool';
  expect(await plain.output(`${install} && ${script}`)).toBe('42');
  expect(
    await plain.output(
      'pip install --dry-run --no-index pip 2>&1 | tail -n 1; test -w /opt/python/bin && echo writable',
    ),
  ).toContain('writable');
  const tools = 'curl file git jq less make rg tmux unzip vim wget';
  expect(await plain.output(`command -v ${tools} | wc -l; command -v sudo || echo none`)).toBe(
    `${tools.split(' ').length}\nnone`,
  );
});

test('IMG-9 with BROWSER_START_MODE=async the API does not wait for the browser', async () => {
  await using container = await Container.start({ env: { RUN_HOOK_INIT: 'mv /usr/bin/chromium /usr/bin/none' } });
  expect(await container.output('echo works')).toBe('works');
  expect(await container.status('/cdp/json/version')).toBe(503);
});

test('IMG-10 with BROWSER_START_MODE=auto the first healthy answer comes with the browser', async () => {
  await using container = await Container.start({ env: { BROWSER_START_MODE: 'auto' } });
  expect(await container.status('/cdp/json/version')).toBe(200);
});

test('IMG-11 with BROWSER_START_MODE=manual the browser waits for its launcher', async () => {
  await using container = await Container.start({ env: { BROWSER_START_MODE: 'manual' } });
  await until('the worker answers', async () => (await container.status('/v2/computer/info')) === 200, slowMs);
  expect(await container.output('pgrep -c chromium; true')).toBe('0');
  await container.output('/opt/boxkeep/start/launch-browser');
  await container.untilServed('/cdp/json/version');
});

test('IMG-12 the IDE is off, and DISABLE_CODE_SERVER=false serves it', async () => {
  expect(await plain.status('/code-server/')).toBe(404);
  await until('the IDE answers', async () => [200, 302].includes(await changed.status('/code-server/')), slowMs);
});

test('IMG-13 the notebook is off but /v1/jupyter works, and DISABLE_JUPYTER=false serves the notebook', async () => {
  expect(await plain.status('/jupyter/lab')).toBe(404);
  const cell = await plain.ok('POST /v1/jupyter/execute', { code: '6 * 7' });
  expect(JSON.stringify(cell['outputs'])).toContain('42');
  await changed.untilServed('/jupyter/lab');
});

test('IMG-14 IMG-15 MCP-7 EXTRA_MCP_SERVERS adds servers beside the browser server on MCP_SERVER_BROWSER_PORT', async () => {
  const both = ['browser_navigate', 'again_browser_navigate'];
  await until(
    'both servers are listed',
    async () => {
      const tools = await changed.tools();
      return both.every((name) => tools.includes(name));
    },
    slowMs,
  );
  expect(await plain.tools()).not.toContain('again_browser_navigate');
});

test('IMG-16 DISABLE_MCP_BROWSER=true leaves the ten tools of the daemon', async () => {
  await using container = await Container.start({ env: { DISABLE_MCP_BROWSER: 'true' } });
  await container.untilServed('/cdp/json/version');
  expect(await container.tools()).toHaveLength(10);
  expect(await container.output('curl --silent 127.0.0.1:8100/mcp; echo $?')).toBe('7');
});

test('IMG-17 PROXY_MAP leads a host of the browser elsewhere, and PROXY_SERVER every host', async () => {
  await changed.ok('POST /v2/commands', { command: webServer(3100, 'mapped'), mode: 'async' });
  await changed.untilServed('/proxy/3100/');
  expect(await titleOf(changed, 'http://mapped.example/')).toBe('mapped');
  await using container = await Container.start({ env: { PROXY_SERVER: 'http://127.0.0.1:3128' } });
  await container.ok('POST /v2/commands', { command: webServer(3128, 'proxied'), mode: 'async' });
  await container.untilServed('/proxy/3128/');
  await container.untilServed('/cdp/json/version');
  expect(await titleOf(container, 'http://anything.example/')).toBe('proxied');
});

test('IMG-18 WORKSPACE stays the home of the account', async () => {
  expect(await changed.ok('GET /v2/sandbox')).toMatchObject({ workspace_dir: '/home/agent' });
  expect(changed.logs()).toContain('WORKSPACE stays /home/agent');
});

test('IMG-19 JUPYTER_POOL_SIZE=1 starts a kernel before any code runs', async () => {
  await until('a kernel runs', async () => (await changed.output('pgrep -f [i]pykernel; true')) !== '', slowMs);
});

test('IMG-20 shells and code use the native backends although tmux and ipykernel are there', async () => {
  const capabilities = await plain.capabilities();
  expect(capabilities).toMatchObject({
    exec: { tmux: true, backend: 'native' },
    code_interpreter: { backend: 'native' },
  });
});

test('IMG-24 SVC_SKILLS_PATH leads sandbox_load_skill to the skills', async () => {
  const answer = await changed.mcp('tools/call', { name: 'sandbox_load_skill', arguments: {} });
  expect(JSON.stringify(answer)).toContain('Makes tea.');
});

test('IMG-23 SVC_AGENT_BROWSER_BIN names the program that snapshots are delegated to', async () => {
  // The program only notes that it was called, and by which account.
  const hook = 'printf "#!/bin/sh\\nid -un >>/tmp/called\\nexit 1\\n" >/srv/cli && chmod 755 /srv/cli';
  await using container = await Container.start({
    env: { RUN_HOOK_INIT: hook, SVC_AGENT_BROWSER_BIN: '/srv/cli', BROWSER_START_MODE: 'auto' },
  });
  expect(await container.output('cat /tmp/called 2>/dev/null; true')).toBe('');
  await container.fetch('/v2/browser/snapshot');
  await until('the program was called', async () => (await container.output('cat /tmp/called; true')) !== '', slowMs);
  expect(await container.output('head -n 1 /tmp/called')).toBe('agent');
});
