/** Without a browser and a desktop, clients of both surfaces get errors in time and in their form. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { clientRoutes } from '../harness/v1-clients.ts';

/** A body that each route takes. */
const bodies: Readonly<Record<string, object>> = {
  'POST /v1/browser/actions': { action_type: 'CLICK' },
  'POST /v1/browser/config': { resolution: { width: 1280, height: 720 } },
  'POST /v1/browser/cookies': { cookies: [{ name: 'a', value: 'b' }] },
  'POST /v1/browser/navigate': { url: 'https://example.org' },
  'POST /v1/browser/click': { ref: 'e1' },
  'POST /v1/browser/fill': { selector: '#name', text: 'x' },
  'POST /v1/browser/evaluate': { expression: '1 + 1' },
  'POST /v1/browser/upload': { ref: 'e1', files: ['/etc/hostname'] },
  'POST /v1/browser/cdp': { method: 'Page.reload' },
  'POST /v1/display/record': { action: 'start' },
};

const desktopRoutes = ['POST /v1/browser/actions', 'POST /v1/browser/config', 'POST /v1/display/record'];

/** The rows of the 1.x clients, and the two additional ones of the specification. */
function servedRoutes(): string[] {
  const rows = clientRoutes().filter(
    ({ name, class: standing }) => standing.startsWith('served') && /\/v1\/(?:browser|display)\//.test(name),
  );
  return [...rows.map(({ route }) => route), 'POST /v1/browser/snapshot', 'POST /v1/browser/cdp'];
}

const absent = {
  browser: 'there is no browser',
  desktop: 'computer-use worker is not available',
};

async function ask(sandbox: Sandbox, route: string, body: object | undefined) {
  const reply = await sandbox.request(route, route.startsWith('POST') ? (body ?? {}) : undefined);
  return { status: reply.status, ...reply.body };
}

test('ERR-503 VER-3 without a browser each route of both surfaces names what is missing and the next step', async ({
  sandbox,
}) => {
  const routes = servedRoutes();
  expect(routes.length).toBeGreaterThan(20);
  for (const route of routes) {
    const missing = absent[desktopRoutes.includes(route) ? 'desktop' : 'browser'];
    for (const [version, next] of [
      ['v1', 'GET /v1/capabilities'],
      ['v2', 'GET /v2/sandbox'],
    ] as const) {
      if (version === 'v2' && route.includes('/display/')) continue; // A route of v1 alone.
      const asked = route.replace('/v1/', `/${version}/`);
      expect([asked, await ask(sandbox, asked, bodies[route])]).toMatchObject([
        asked,
        {
          status: 503,
          success: false,
          message: expect.stringContaining(missing),
          hint: expect.stringContaining(next),
        },
      ]);
    }
  }
  const { message } = await ask(sandbox, 'GET /v2/browser/info', undefined);
  expect(message).toBe('there is no browser at 127.0.0.1:9: nothing listens there');
});

test(
  'FACT-4 the daemon launches no browser and no desktop, also where the programs are on PATH',
  async ({ sandbox }) => {
    for (const route of servedRoutes()) await ask(sandbox, route, bodies[route]);
    await sandbox.ok('GET /v1/capabilities?refresh=true');
    expect(existsSync(join(sandbox.directory, 'launched'))).toBe(false);
    await sandbox.run({ command: 'chromium' });
    expect(existsSync(join(sandbox.directory, 'launched'))).toBe(true);
  },
  {
    env: (sandbox) => ({ PATH: `${join(sandbox.directory, 'programs')}:${process.env['PATH']}` }),
    prepare({ directory }) {
      const programs = join(directory, 'programs');
      mkdirSync(programs);
      for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'Xvfb', 'Xvnc', 'startxfce4']) {
        writeFileSync(join(programs, name), `#!/bin/sh\necho "$0" >> ${directory}/launched\n`, { mode: 0o755 });
      }
    },
  },
);

test('BROWSER-16 ERR-405 a tab is activated with POST; the PUT of 1.x gets a hint', async ({ sandbox }) => {
  const reply = await sandbox.request('PUT /v1/browser/tabs/x1/activate', {});
  expect([reply.status, reply.headers.get('allow'), reply.body]).toMatchObject([
    405,
    'POST',
    { success: false, hint: 'This path takes POST.' },
  ]);
});

test('BROWSER-17 VER-3 a tab addressed by its position is not found', async ({ sandbox }) => {
  for (const route of ['DELETE /v1/browser/tabs/0', 'DELETE /v1/browser/tabs/1', 'POST /v1/browser/tabs/1/activate']) {
    const position = /\d+/.exec(route.replace('v1', ''))?.[0] ?? '';
    expect([route, await ask(sandbox, route, {})]).toMatchObject([
      route,
      {
        status: 404,
        success: false,
        message: `no tab with id ${position}`,
        hint: expect.stringContaining('target_id'),
      },
    ]);
  }
});

test('ERR-422 VER-3 impossible requests are refused before a browser is searched', async ({ sandbox }) => {
  const cases: [string, object | undefined, string, string][] = [
    ['GET /v1/browser/screenshot?format=gif', undefined, 'query.format', 'enum'],
    ['GET /v1/browser/screenshot?quality=101', undefined, 'query.quality', 'too_large'],
    ['GET /v1/browser/network/requests?limit=many', undefined, 'query.limit', 'int_type'],
    ['POST /v1/browser/actions', {}, 'body.action_type', 'missing'],
    ['POST /v1/browser/actions', { action_type: 'JUMP' }, 'body.action_type', 'enum'],
    ['POST /v1/browser/actions', { action_type: 'MOVE_TO', x: 1 }, 'body.y', 'missing'],
    ['POST /v1/browser/actions', { action_type: 'CLICK', num_clicks: 4 }, 'body.num_clicks', 'enum'],
    ['POST /v1/browser/actions', { action_type: 'CLICK', button: 'fourth' }, 'body.button', 'enum'],
    ['POST /v1/browser/actions', { action_type: 'TYPING', text: '' }, 'body.text', 'too_short'],
    ['POST /v1/browser/actions', { action_type: 'HOTKEY', keys: [] }, 'body.keys', 'too_short'],
    ['POST /v1/browser/actions', { action_type: 'WAIT', duration: 0 }, 'body.duration', 'too_small'],
    ['POST /v1/browser/config', { resolution: { width: 0, height: 1 } }, 'body.resolution.width', 'too_small'],
    ['POST /v1/browser/cookies', {}, 'body.cookies', 'missing'],
    ['POST /v1/browser/cookies', { cookies: ['a=b'] }, 'body.cookies.0', 'object_type'],
    ['POST /v1/browser/tabs', { url: 7 }, 'body.url', 'string_type'],
    ['POST /v1/browser/navigate', {}, 'body.url', 'value_error'],
    ['POST /v1/browser/navigate', { history: 'up' }, 'body.history', 'enum'],
    ['POST /v1/browser/click', { tab_id: 'x' }, 'body.ref', 'value_error'],
    ['POST /v1/browser/fill', { ref: 'e1' }, 'body.value', 'value_error'],
    ['POST /v1/browser/fill', { ref: 'e1', value: 'a', text: 'b' }, 'body.text', 'value_error'],
    ['POST /v1/browser/upload', { ref: 'e1', paths: ['/a'], files: ['/b'] }, 'body.files', 'value_error'],
    ['POST /v1/browser/upload', { ref: 'e1', paths: [] }, 'body.paths', 'too_short'],
    ['POST /v1/browser/evaluate', {}, 'body.expression', 'missing'],
    ['POST /v1/browser/snapshot', { depth: 0 }, 'body.depth', 'too_small'],
    ['POST /v1/browser/cdp', { method: '' }, 'body.method', 'too_short'],
    ['POST /v1/display/record', {}, 'body.action', 'missing'],
    ['POST /v1/display/record', { action: 'start', fps: 31 }, 'body.fps', 'too_large'],
    ['POST /v1/display/record', { action: 'start', crf: -1 }, 'body.crf', 'too_small'],
  ];
  for (const [route, body, location, type] of cases) {
    expect([route, body, await ask(sandbox, route, body)]).toMatchObject([
      route,
      body as object,
      { status: 422, success: false, data: null, errors: [{ location, type }] },
    ]);
  }
});

test('HTTP-EMPTY VER-3 unknown fields and an absent body are accepted', async ({ sandbox }) => {
  for (const route of ['POST /v1/browser/config', 'POST /v1/browser/tabs', 'POST /v1/browser/snapshot']) {
    const headers = { 'content-type': 'application/json' };
    expect([route, (await sandbox.request(route, '', headers)).status]).toEqual([route, 503]);
    expect([route, (await sandbox.request(route, { of_later: true })).status]).toEqual([route, 503]);
  }
});
