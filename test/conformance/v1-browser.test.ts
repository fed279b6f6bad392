/** The browser and desktop routes of v1 where there is neither: 1.x clients are told so, in time and in their shapes. */
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

/** The rows of the 1.x clients, and the two that the specification has beside them. */
function servedRoutes(): string[] {
  const rows = clientRoutes().filter(
    ({ name, class: standing }) => standing.startsWith('served') && /\/v1\/(?:browser|display)\//.test(name),
  );
  return [...rows.map(({ route }) => route), 'POST /v1/browser/snapshot', 'POST /v1/browser/cdp'];
}

async function ask(sandbox: Sandbox, route: string, body: object | undefined) {
  const reply = await sandbox.request(route, route.startsWith('POST') ? (body ?? {}) : undefined);
  return { status: reply.status, ...reply.body };
}

test('ERR-503 VER-3 without a browser each route says what is missing and what to do', async ({ sandbox }) => {
  const routes = servedRoutes();
  expect(routes.length).toBeGreaterThan(20);
  for (const route of routes) {
    const missing = desktopRoutes.includes(route) ? 'desktop' : 'browser';
    expect([route, await ask(sandbox, route, bodies[route])]).toMatchObject([
      route,
      {
        status: 503,
        success: false,
        message: `there is no ${missing}: this version does not serve the ${missing} plane`,
        data: null as never,
        hint: expect.stringContaining('GET /v1/capabilities'),
      },
    ]);
  }
});

test('BROWSER-16 ERR-405 a tab is activated with POST; the PUT of 1.x is told so', async ({ sandbox }) => {
  const reply = await sandbox.request('PUT /v1/browser/tabs/x1/activate', {});
  expect([reply.status, reply.headers.get('allow'), reply.body]).toMatchObject([
    405,
    'POST',
    { success: false, hint: 'Use POST.' },
  ]);
});

test('BROWSER-17 VER-3 a tab that is called by its position is not found', async ({ sandbox }) => {
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

test('ERR-422 VER-3 what no browser could do is refused before one is looked for', async ({ sandbox }) => {
  const cases: [string, object | undefined, string, string][] = [
    ['GET /v1/browser/screenshot?format=gif', undefined, 'query.format', 'enum'],
    ['GET /v1/browser/screenshot?quality=101', undefined, 'query.quality', 'too_large'],
    ['GET /v1/browser/network/requests?limit=many', undefined, 'query.limit', 'int_type'],
    ['POST /v1/browser/actions', {}, 'body.action_type', 'value_error'],
    ['POST /v1/browser/actions', { action_type: 'JUMP' }, 'body.action_type', 'value_error'],
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

test('HTTP-EMPTY VER-3 unknown fields and a body that is left out are no mistake', async ({ sandbox }) => {
  for (const route of ['POST /v1/browser/config', 'POST /v1/browser/tabs', 'POST /v1/browser/snapshot']) {
    const headers = { 'content-type': 'application/json' };
    expect([route, (await sandbox.request(route, '', headers)).status]).toEqual([route, 503]);
    expect([route, (await sandbox.request(route, { of_later: true })).status]).toEqual([route, 503]);
  }
});
