/** Features of 1.x that were removed: routes answer 404 with a replacement, variables give a warning. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { expect, launchCommand, repositoryRoot, programTest, test, type Sandbox } from '../harness/sandbox.ts';
import { clientRoutes } from '../harness/v1-clients.ts';

const key = 'canary-key-0b6e4d11f3';

/** Specification, Removed routes; each family is tested together with the rows of its 1.x clients. */
const families: Readonly<Record<string, readonly string[]>> = {
  skills: ['GET /v1/skills', 'POST /v1/skills/register', 'GET /v1/skills/a/content', 'GET /v1/sandbox/hooks'],
  util: ['POST /v1/util/convert_to_markdown'],
  observe: ['GET /v1/sandbox/observe/status', 'POST /v1/sandbox/observe/start'],
  browser: [
    ...['GET /v1/browser/captcha/detect', 'POST /v1/browser/state/save', 'POST /v1/browser/restart'],
    ...['GET /v1/browser/proxy.pac', 'POST /v1/browser/network/route', 'POST /v1/browser/network/headers'],
    ...['POST /v1/browser/network/scoped_headers', 'POST /v1/browser/network/export_har'],
  ],
  proxy: ['GET /v1/proxy/mappings', 'PUT /v1/proxy/upstream'],
  mcp: ['GET /v1/mcp/servers', 'GET /v1/mcp/any/tools', 'POST /v1/mcp/any/tools/run'],
  page: ['POST /v1/browser/page/navigate', 'GET /v1/browser/page/anything/else'],
  tickets: ['POST /tickets', 'GET /auth'],
  nodejs: ['PATCH /v1/nodejs/sessions/s1'],
};

/** The replacement in the hint of each removed route, by prefix. */
const replacements: Readonly<Record<string, string>> = {
  '/v1/skills': 'sandbox_load_skill of POST /mcp',
  '/v1/sandbox/hooks': 'POST /v1/bash/exec',
  '/v1/sandbox/observe/': 'GET /metrics',
  '/v1/util/': 'POST /v1/bash/exec',
  '/v1/browser/': 'over the DevTools protocol of the browser',
  '/v1/browser/page/': 'POST /v1/browser/navigate',
  '/v1/browser/proxy.pac': 'HTTP_PROXY and HTTPS_PROXY in its env',
  '/v1/proxy/': 'HTTP_PROXY and HTTPS_PROXY in its env',
  '/v1/mcp/': 'POST /mcp lists and calls the tools',
  '/v1/nodejs/sessions/': 'Delete the session and create one',
  '/tickets': 'Send the API key',
  '/auth': 'GET /internal/auth',
};

function replacementOf(route: string): string {
  const found = Object.keys(replacements).filter((prefix) => route.includes(` ${prefix}`));
  expect([route, found.length]).not.toEqual([route, 0]);
  const longest = found.toSorted((a, b) => b.length - a.length)[0] ?? '';
  return replacements[longest] ?? '';
}

/** Bodies of v1 have no code. */
function dataOf(route: string): never {
  const failure = { code: 'route_not_found', retryable: false };
  return (route.includes(' /v1/') ? null : failure) as never;
}

async function expectGone(sandbox: Sandbox, route: string, headers: Record<string, string> = {}): Promise<void> {
  const isRead = route.startsWith('GET');
  const reply = await sandbox.request(route, isRead ? undefined : {}, headers);
  expect([route, reply.status, reply.body.success, reply.body.data]).toEqual([route, 404, false, dataOf(route)]);
  expect([route, reply.body.message]).toEqual([route, `no route ${route}`]);
  expect([route, reply.body.hint]).toEqual([
    route,
    expect.stringMatching(/^This route of the 1\.x server is gone\. .+\.$/),
  ]);
  expect(reply.body.hint).toContain(replacementOf(route));
}

test('VER-4 ERR-404 every call of the 1.x clients to a removed route is 404 with a hint', async ({ sandbox }) => {
  const rows = clientRoutes().filter((row) => row.class === 'removed-404');
  expect(rows.length).toBeGreaterThan(60);
  for (const { route } of rows) await expectGone(sandbox, route);
});

test('VER-4 every route that a hint names is served', async ({ sandbox }) => {
  const gone = clientRoutes().filter((row) => row.class === 'removed-404');
  const routes = [...gone.map(({ route }) => route), ...Object.values(families).flat()];
  const hints = await Promise.all(routes.map(async (route) => (await sandbox.request(route)).body.hint ?? ''));
  const named = new Set(hints.flatMap((hint) => hint.match(/\b(?:GET|POST|PUT|DELETE) \/\S*[a-z]/g) ?? []));

  expect(named.size).toBeGreaterThan(2);
  for (const route of named) {
    const { status } = await sandbox.fetch(route, route.startsWith('GET') ? undefined : {});
    expect([route, [404, 405, 501, 503].includes(status)]).toEqual([route, false]);
  }
});

test('GONE-1 GONE-2 GONE-3 GONE-6 GONE-7 GONE-8 GONE-9 GONE-10 GONE-11 removed families are 404', async ({
  sandbox,
}) => {
  for (const route of Object.values(families).flat()) await expectGone(sandbox, route);
});

test(
  'GONE-10 AUTH-6 with a key set, a removed route is 401 before it is 404',
  async ({ sandbox }) => {
    for (const route of Object.values(families).flat()) {
      const reply = await sandbox.request(route, route.startsWith('GET') ? undefined : {});
      expect([route, reply.status]).toEqual([route, 401]);
      await expectGone(sandbox, route, { 'x-api-key': key });
    }
  },
  { env: { SVC_API_KEY: key } },
);

test(
  'RUN-SURFACE the v1 surface can be disabled, except ping, capabilities and its description',
  async ({ sandbox }) => {
    for (const path of ['/v1/ping', '/v1/capabilities', '/v1/openapi.json', '/v2/sandbox', '/health']) {
      expect([path, (await sandbox.fetch(`GET ${path}`)).status]).toEqual([path, 200]);
    }
    const { paths } = (await (await sandbox.fetch('GET /v1/openapi.json')).json()) as { paths: object };
    const described = Object.keys(paths).filter((path) => path.startsWith('/v1/'));
    expect(described.toSorted()).toEqual(['/v1/capabilities', '/v1/openapi.json', '/v1/ping']);
    for (const route of ['GET /v1/sandbox', 'GET /v1/sandbox/packages/python', 'GET /v1/skills/x', 'GET /v1/nothing']) {
      expect([route, await sandbox.request(route)]).toMatchObject([
        route,
        { status: 404, body: { success: false, hint: expect.stringContaining('SVC_API_SURFACE=v2') } },
      ]);
    }
    expect((await sandbox.request('POST /v1/ping', {})).status).toBe(405);
  },
  { env: { SVC_API_SURFACE: 'v2' } },
);

const goneVariables = {
  SANDBOX_SHUTDOWN_HOOKS: '/opt/stop.sh',
  DISABLE_NODEJS_REPL: 'false',
  NODEJS_REPL_PORT: '18092',
  NODEJS_REPL_PORT_22: '18093',
  MCP_FILTER_SERVERS: 'browser',
  TICKET_TTL_SECONDS: '30',
};

const noReplServers = 'There are no Node REPL servers any more; JavaScript runs through the code routes.';
const goneWarnings = [
  `DISABLE_NODEJS_REPL has no effect. ${noReplServers}`,
  'MCP_FILTER_SERVERS has no effect. List only the servers that are wanted in EXTRA_MCP_SERVERS.',
  `NODEJS_REPL_PORT has no effect. ${noReplServers}`,
  `NODEJS_REPL_PORT_22 has no effect. ${noReplServers}`,
  'SANDBOX_SHUTDOWN_HOOKS has no effect. Stop hooks are gone, and nothing replaces them in this version.',
  'TICKET_TTL_SECONDS has no effect. There are no tickets any more; send the API key.',
];

test(
  'RUN-GONE GONE-4 variables without effect give one warning, also across a restart',
  async ({ sandbox }) => {
    const warnings = () => sandbox.logLines().filter(({ level, variable }) => level === 'warn' && variable);
    expect(warnings().map(({ message }) => message as string)).toEqual(goneWarnings);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(warnings()).toHaveLength(goneWarnings.length);
    const { ports } = await sandbox.ok('GET /v2/sandbox');
    expect([18092, 18093].filter((port) => (ports as number[]).includes(port))).toEqual([]);
  },
  { env: goneVariables, expectedWarnings: [...goneWarnings, 'started again by init'] },
);

programTest(
  'RUN-GONE the guide for deployments of 1.x names each variable that is gone, and each that still works',
  () => {
    const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
    const former = [...read('spec/config.json').matchAll(/(\w+) is read too/g)].map(([, name = '']) => name);
    expect(former).toContain('JUPYTER_POOL_SIZE');
    const gone = Object.keys(goneVariables).map((name) => name.replace(/_22$/, ''));
    const guide = read('docs/guide/moving-from-1x.md');
    expect([...former, ...gone].filter((name) => !guide.includes(`\`${name}`))).toEqual([]);
  },
);

const openWarning = 'JWT_PUBLIC_KEY has no effect, and no request needs a key. Set SVC_API_KEY to require one.';

test(
  'AUTH-7 RUN-GONE with only a JWT key the daemon is open and logs that once; tickets and JWTs are ignored',
  async ({ sandbox }) => {
    const warned = sandbox.logLines().filter(({ message }) => message === openWarning);
    expect(warned).toHaveLength(1);
    expect((await sandbox.request('GET /v2/sandbox?ticket=any')).status).toBe(200);
    expect((await sandbox.request('GET /v2/sandbox', undefined, { authorization: 'Bearer a.b.c' })).status).toBe(200);
  },
  { env: { JWT_PUBLIC_KEY: 'cHVibGlj' }, expectedWarnings: [openWarning] },
);

test(
  'AUTH-7 beside a key the JWT key is ignored, and neither a JWT nor a ticket is accepted as the key',
  async ({ sandbox }) => {
    expect((await sandbox.request('GET /v2/sandbox', undefined, { authorization: 'Bearer a.b.c' })).status).toBe(401);
    expect((await sandbox.request(`GET /v2/sandbox?ticket=${key}`)).status).toBe(401);
    expect((await sandbox.request('GET /v2/sandbox', undefined, { 'x-api-key': key })).status).toBe(200);
  },
  { env: { JWT_PUBLIC_KEY: 'cHVibGlj', SVC_API_KEY: key } },
);

test(
  'GONE-5 WORKSPACE moves nothing, and there is no flag to move it',
  async ({ sandbox }) => {
    const info = await sandbox.ok('GET /v2/sandbox');
    expect(info['workspace_dir']).toBe(info['home_dir']);
    const run = Bun.spawnSync([...launchCommand(), 'start', '--workspace', '/tmp'], {
      env: programEnvironment(),
    });
    expect([run.exitCode, run.stderr.toString()]).toEqual([
      2,
      'boxkeep: unknown argument --workspace; boxkeep help settings lists them\n',
    ]);
  },
  { env: { WORKSPACE: '/tmp' } },
);
