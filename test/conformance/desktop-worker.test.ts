/** The computer-use worker as a process: what the daemon forwards, and what pages and the key cannot reach. */
import { afterAll, beforeAll } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestBrowser } from '../harness/browser.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { callTool } from '../harness/mcp-client.ts';
import { wordsInMemory } from '../harness/process-memory.ts';
import { within } from '../harness/fair-clock.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = `canary-${randomUUID()}`;
/** A word that the worker does have. */
const control = `control-${randomUUID()}`;
const reboundName = 'rebound.example';

let display: TestDisplay;
let worker: ComputerWorker;
/** Serves an empty page of another origin. */
let pages: Bun.Server<undefined>;
/** Listens where the worker is expected. */
let program: Bun.Server<undefined>;

beforeAll(async () => {
  display = await TestDisplay.start();
  // The variables that could lead a key into the worker.
  const keys = { SVC_API_KEY: key, SANDBOX_API_KEY: key, OTEL_EXPORTER_OTLP_HEADERS: `authorization=${key}` };
  worker = await ComputerWorker.start({
    args: ['--api-key', key],
    env: { ...display.environment, ...keys, CONTROL: control },
  });
  const headers = { 'content-type': 'text/html' };
  pages = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<p>A page</p>', { headers }) });
  program = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: ({ url }) => strange[new URL(url).pathname]?.() ?? Response.json({}, { status: 404 }),
  });
});
afterAll(async () => {
  await pages.stop(true);
  await program.stop(true);
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
});

/** The log lines of the requests that the worker has answered. */
const requests = () =>
  worker.stdout
    .split('\n')
    .filter((line) => line.includes('"message":"request"'))
    .map((line) => JSON.parse(line) as JsonObject);

test('DESK-WORKER without a worker the daemon says how to start one, and reports it as absent', async ({ sandbox }) => {
  const routes: readonly [string, object?][] = [
    ['GET /v2/computer/info'],
    ['GET /v2/computer/screenshot'],
    ['GET /v2/computer/cursor'],
    ['GET /v2/computer/clipboard'],
    ['GET /v2/computer/windows'],
    ['GET /v2/computer/accessibility'],
    ['GET /v2/computer/accessibility/nodes'],
    ['POST /v2/computer/actions', { action_type: 'MOVE_TO', x: 1, y: 1 }],
    ['POST /v2/computer/actions/batch', { actions: [{ action_type: 'MOVE_TO', x: 1, y: 1 }] }],
    ['POST /v2/computer/config', { resolution: { width: 800, height: 600 } }],
    ['POST /v2/computer/record', { action: 'status' }],
    ['POST /v2/browser/actions', { action_type: 'MOVE_TO', x: 1, y: 1 }],
    ['POST /v1/browser/actions', { action_type: 'MOVE_TO', x: 1, y: 1 }],
    ['POST /v1/browser/config', { resolution: { width: 800, height: 600 } }],
    ['POST /v1/display/record', { action: 'status' }],
  ];
  for (const [route, body] of routes) {
    const { status, body: answer } = await sandbox.request(route, body);
    expect([route, status, answer]).toMatchObject([
      route,
      503,
      {
        success: false,
        message: 'computer-use worker is not available',
        hint: expect.stringContaining('boxkeep computer-use --port 9'),
      },
    ]);
  }
  const computer = (await sandbox.ok('GET /v1/capabilities'))['computer'] as JsonObject;
  expect(computer).toMatchObject({ status: 'absent', provider: null, actions: false });
  expect((computer['missing'] as string[])[0]).toStartWith(
    'computer-use worker is not available at http://127.0.0.1:9',
  );
});

test(
  'DESK-WORKER the daemon forwards ids, traces, inputs and refusals',
  async ({ sandbox }) => {
    const sent = { 'x-request-id': 'from-a-client', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    const moved = await sandbox.request('POST /v2/computer/actions', { action_type: 'MOVE_TO', x: 40, y: 50 }, sent);
    const performed = { status: 'success', action_performed: 'MOVE_TO' };
    expect([moved.status, moved.headers.get('x-request-id'), moved.body]).toMatchObject([
      200,
      'from-a-client',
      { ...performed, data: performed },
    ]);
    await until('the worker logs the call', () => requests().some((line) => line['request_id'] === 'from-a-client'));
    expect(await sandbox.ok('GET /v2/computer/cursor')).toEqual({ x: 40, y: 50 });

    const refused = await sandbox.request('POST /v2/computer/actions', { action_type: 'MOVE_TO', x: 'left', y: 1 });
    expect([refused.status, refused.body.errors?.[0]?.location]).toEqual([422, 'body.x']);
    const gone = await sandbox.request('POST /v2/computer/actions', { action_type: 'WINDOW_ACTIVATE', window_id: '1' });
    expect([gone.status >= 400, gone.status < 500, gone.body.success]).toEqual([true, true, false]);

    const picture = await sandbox.fetch('GET /v2/computer/screenshot?scale_to=320x200', undefined, {
      headers: { accept: 'image/webp' },
    });
    const sizes = ['x-image-width', 'x-image-height', 'x-screen-width', 'x-screen-height'];
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(sizes.map((name) => picture.headers.get(name))).toEqual(['320', '200', '1280', '800']);
    expect((await picture.bytes()).length).toBe(Number(picture.headers.get('content-length')));

    const { computer } = await sandbox.ok('GET /v1/capabilities?refresh=true');
    expect(computer).toMatchObject({
      ...{ provider: 'x11', display: display.name, screenshot: true, actions: true },
      resolution: { width: 1280, height: 800 },
    });
  },
  { env: () => worker.environment },
);

test(
  'DESK-WORKER a refusal of the worker has the words of the surface that passes it on',
  async ({ sandbox }) => {
    const outside = { action_type: 'MOVE_TO', x: 90_000, y: 1 };
    const named = expect.not.stringContaining('scale_to');
    const current = await sandbox.request('POST /v2/computer/actions', outside);
    const { message, hint, ...rest } = current.body;
    expect([current.status, message, hint, rest]).toEqual([
      400,
      expect.stringContaining('outside'),
      expect.stringContaining('scale_to'),
      { success: false, data: { code: 'bad_argument', retryable: false } },
    ]);
    const earlier = await sandbox.request('POST /v1/browser/actions', outside);
    expect([earlier.status, earlier.body as object]).toEqual([400, { ...current.body, data: null, hint: named }]);
    const tool = await callTool(sandbox, 'browser_gui_execute_action', outside);
    expect([tool.isError, tool.text]).toEqual([true, expect.stringContaining(message)]);
    expect(tool.text).toEqual(named);
  },
  { env: () => worker.environment },
);

/** What a program on the port of the worker answers: an older worker, another program, a failure in another form. */
const strange: Readonly<Record<string, () => Response>> = {
  '/v2/computer/cursor': () => Response.json({ success: false, message: 'too many', hint: 'Wait.' }, { status: 429 }),
  '/v2/computer/windows': () =>
    Response.json({ message: 'not so', refusal: { code: 'no_such_code', message: 'x' } }, { status: 503 }),
  '/v2/computer/clipboard': () => Response.json({ message: 'unexpected' }, { status: 418 }),
  '/v2/computer/info': () => Response.json(['not an envelope'], { status: 503 }),
  '/v2/computer/accessibility': () =>
    new Response('{', { status: 400, headers: { 'content-type': 'application/json' } }),
  '/v2/computer/actions': () => Response.json({ success: true, message: 'done', data: { other: 1 } }),
};

test(
  'DESK-WORKER an older worker and any other program on its port are answered for',
  async ({ sandbox }) => {
    const asked = async (route: string) => {
      const { status, body } = await sandbox.request(route);
      return [status, body.message, body.hint];
    };
    expect(await asked('GET /v2/computer/cursor')).toEqual([429, 'too many', 'Wait.']);
    expect(await asked('GET /v2/computer/windows')).toEqual([503, 'not so', null]);
    expect(await asked('GET /v2/computer/clipboard')).toEqual([503, 'unexpected', null]);
    expect(await asked('GET /v2/computer/info')).toEqual([503, 'it has refused the call', null]);
    expect(await asked('GET /v2/computer/accessibility')).toEqual([400, 'it has refused the call', null]);
    const action = { action_type: 'MOVE_TO', x: 1, y: 1 };
    expect(await sandbox.request('POST /v2/computer/actions', action)).toMatchObject({ body: { data: { other: 1 } } });
    const tool = await callTool(sandbox, 'browser_gui_execute_action', action);
    expect([tool.isError, tool.text]).toEqual([true, expect.stringContaining('answers in another form')]);
  },
  { env: () => ({ SVC_COMPUTER_USE_URL: `http://127.0.0.1:${program.port}` }) },
);

test(
  'DESK-3 DESK-WORKER the 1.x routes and those of the browser act on the same display',
  async ({ sandbox }) => {
    for (const [index, route] of ['POST /v1/browser/actions', 'POST /v2/browser/actions'].entries()) {
      const place = { x: 100 + index, y: 200 };
      const answer = await sandbox.request(route, { action_type: 'MOVE_TO', ...place });
      expect([answer.status, answer.body]).toMatchObject([
        200,
        { success: true, status: 'success', action_performed: 'MOVE_TO' },
      ]);
      expect(await sandbox.ok('GET /v2/computer/cursor')).toEqual(place);
    }
    for (const route of ['POST /v1/browser/config', 'POST /v2/browser/config', 'POST /v2/computer/config']) {
      expect(await sandbox.ok(route, {})).toEqual({ resolution: { width: 1280, height: 800 } });
    }
    expect(await sandbox.ok('POST /v1/display/record', { action: 'status' })).toMatchObject({ status: 'idle' });
  },
  { env: () => worker.environment },
);

test(
  'DESK-WORKER a worker that was killed is reported, and serves again when it is back',
  async ({ sandbox }) => {
    await sandbox.ok('GET /v2/computer/cursor');
    await worker.end('SIGKILL');
    expect((await sandbox.request('GET /v2/computer/cursor')).body.message).toBe(
      'computer-use worker is not available',
    );
    await worker.launch();
    await sandbox.ok('GET /v2/computer/cursor');
  },
  { env: () => worker.environment },
);

test(
  'DESK-WORKER a worker that is stopped is 503 with the reason within seconds, for reads and actions',
  async ({ sandbox }) => {
    await sandbox.ok('GET /v2/computer/cursor');
    worker.signal('SIGSTOP');
    try {
      const calls = ['GET /v2/computer/cursor', 'GET /v2/computer/screenshot', 'GET /v2/computer/windows'];
      const action = { action_type: 'WAIT', duration: 30 };
      const answers = within(
        'answers of a stopped worker',
        Promise.all([
          ...calls.map((route) => sandbox.request(route)),
          sandbox.request('POST /v2/computer/actions', action),
        ]),
        20_000,
      );
      for (const { status, body } of await answers) {
        expect([status, body.data['reason']]).toEqual([503, expect.stringContaining('answers nothing')]);
      }
      const report = await sandbox.ok('GET /v1/capabilities?refresh=true');
      expect(report['computer']).toMatchObject({ status: 'absent' });
    } finally {
      worker.signal('SIGCONT');
    }
    await sandbox.ok('GET /v2/computer/cursor');
    // An action that takes its time is no stall.
    await sandbox.ok('POST /v2/computer/actions', { action_type: 'WAIT', duration: 10 });
  },
  { env: () => worker.environment },
);

test(
  'DESK-WORKER a display that died is named, and used again with its new size once it is back',
  async ({ sandbox }) => {
    await sandbox.ok('GET /v2/computer/cursor');
    await display.kill();
    const away = await sandbox.request('GET /v2/computer/screenshot');
    expect([away.status, away.body]).toMatchObject([
      503,
      { success: false, message: expect.stringContaining(`the display ${display.name} is not available`) },
    ]);
    expect(await sandbox.ok('GET /v2/computer/info')).toMatchObject({ available: false, screen_resolution: null });
    await display.launch({ width: 800, height: 600 });
    expect((await sandbox.ok('GET /v2/computer/info'))['screen_resolution']).toEqual({ width: 800, height: 600 });
    await sandbox.ok('POST /v2/computer/actions', { action_type: 'MOVE_TO', x: 700, y: 500 });
  },
  { env: () => worker.environment },
);

test(
  'DESK-NOKEY a canary key is nowhere in the worker: environment, arguments, memory, log',
  async ({ sandbox }) => {
    const carriers: [string, Record<string, string>][] = [
      ['', { authorization: `Bearer ${key}` }],
      ['', { 'x-api-key': key }],
      [`?api_key=${key}`, {}],
    ];
    for (const [query, headers] of carriers) {
      await sandbox.ok(`GET /v2/computer/cursor${query}`, undefined, headers);
      await sandbox.ok(`POST /v1/browser/actions${query}`, { action_type: 'MOVE_TO', x: 1, y: 2 }, headers);
    }
    const texts = ['environ', 'cmdline'].map((file) => readFileSync(`/proc/${worker.pid}/${file}`, 'utf8'));
    // Only booleans, because environments of the machine belong in no log.
    expect(texts.map((text) => text.includes(key))).toEqual([false, false]);
    expect(texts[0]?.includes(control)).toBe(true);
    expect((worker.stdout + worker.stderr).includes(key)).toBe(false);
    const words = wordsInMemory(worker.pid, [key, control]);
    expect([words.has(control), words.has(key)]).toEqual([true, false]);
  },
  { args: ['--api-key', key], env: () => worker.environment },
);

test('DESK-GUARD only programs of this machine drive the worker, and only with JSON', async () => {
  const move = JSON.stringify({ action_type: 'MOVE_TO', x: 700, y: 300 });
  const json = { 'content-type': 'application/json' };
  const cases: [number, Record<string, string>, string][] = [
    [415, { 'content-type': 'text/plain' }, move],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }, move],
    [403, { ...json, origin: 'https://example.org' }, move],
    [403, { ...json, origin: 'null' }, move],
    [403, { ...json, origin: worker.url }, move],
    [403, { ...json, 'sec-fetch-site': 'cross-site' }, move],
    [403, { ...json, host: 'rebound.example' }, move],
    [403, { ...json, host: '192.0.2.1' }, move],
  ];
  const before = await worker.ok('GET /v2/computer/cursor');
  for (const [status, headers, body] of cases) {
    const answer = await fetch(`${worker.url}/v2/computer/actions`, {
      ...{ method: 'POST', headers, body, keepalive: false },
    });
    expect([headers, answer.status]).toEqual([headers, status]);
  }
  expect(await worker.ok('GET /v2/computer/cursor')).toEqual(before);
  const listeners = readFileSync('/proc/net/tcp', 'utf8') + readFileSync('/proc/net/tcp6', 'utf8');
  const port = Number(new URL(worker.url).port).toString(16).toUpperCase().padStart(4, '0');
  const own = listeners.split('\n').filter((line) => line.includes(`:${port} `) && / 0A /.test(line));
  expect(own.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`]);
});

/** A script that runs in a page: tries everything that a page can send, and returns what it could read. */
const attack = `async (url, bodies) => {
  const read = [];
  const attempt = async (name, work) => {
    const found = await work().then(String, () => 'refused');
    read.push(name + ': ' + found);
  };
  const post = (name, init) => () =>
    fetch(url + '/v2/computer/record', { method: 'POST', body: bodies[name], ...init }).then(({ type }) => type);
  await attempt('text', post('text', { mode: 'no-cors', headers: { 'content-type': 'text/plain' } }));
  await attempt('json', post('json', { headers: { 'content-type': 'application/json' } }));
  await attempt('beacon', async () => navigator.sendBeacon(url + '/v2/computer/record', bodies.beacon));
  await attempt('read', () => fetch(url + '/v2/computer/info').then((response) => response.text()));
  await attempt('picture', () => {
    const picture = new Image();
    picture.src = url + '/v2/computer/screenshot';
    return picture.decode().then(() => picture.width);
  });
  await attempt('socket', () => new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws') + '/v2/computer/actions');
    socket.onopen = () => resolve('open');
    socket.onerror = reject;
  }));
  return read;
}`;

test('DESK-GUARD a hostile page in Chromium cannot drive the worker, under a rebound name neither', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-hostile-'));
  try {
    await using browser = await TestBrowser.launch([reboundName]);
    await using opened = await browser.open();
    const film = (name: string) => JSON.stringify({ action: 'start', save_path: join(directory, `${name}.mp4`) });
    const bodies = Object.fromEntries(['text', 'json', 'beacon', 'rebound'].map((name) => [name, film(name)]));
    const answered = () => requests().filter((line) => line['status'] !== 200).length;
    const before = answered();

    await opened.page.goto(`http://127.0.0.1:${pages.port}/`);
    const read = await opened.page.evaluate(`(${attack})(${JSON.stringify(worker.url)}, ${JSON.stringify(bodies)})`);
    expect(read).toEqual([
      'text: refused',
      'json: refused',
      'beacon: true',
      'read: refused',
      'picture: refused',
      'socket: refused',
    ]);

    // The page of a rebound name shares its origin with the worker, so the browser lets it send and read anything.
    const port = new URL(worker.url).port;
    const own = await opened.page.goto(`http://${reboundName}:${port}/v2/computer/info`);
    expect(own?.status()).toBe(403);
    const statuses = await opened.page.evaluate(async (body) => {
      const headers = { 'content-type': 'application/json' };
      const sent = await fetch('/v2/computer/record', { method: 'POST', headers, body });
      return [sent.status, (await fetch('/v2/computer/info')).status];
    }, bodies['rebound'] ?? '');
    expect(statuses).toEqual([403, 403]);

    await until('the worker has answered everything', () => answered() - before >= 8);
    expect(readdirSync(directory)).toEqual([]);
    expect((await worker.ok('POST /v2/computer/record', { action: 'status' }))['status']).toBe('idle');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
