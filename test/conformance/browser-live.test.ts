/** A tab that is watched live: its pictures, and how the watching ends. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { isColour, LiveClient } from '../harness/live-client.ts';
import { memoryOf } from '../harness/process-memory.ts';
import { headOf, statusOf, upgradeRequest } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

const path = '/v2/browser/live';
const [red, green, blue] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
] as const;

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start();
  const page = (body: string) => new Response(body, { headers: { 'content-type': 'text/html' } });
  site = startSite({
    '/colour': ({ searchParams }) => page(`<!doctype html><body style="background:${searchParams.get('name')}">`),
    // Each frame differs from the one before.
    '/busy': () =>
      page(
        `<!doctype html><body><script>let n = 0; const step = () => { document.body.style.background = n++ % 2 ? '#eee' : '#ddd'; if (!window.last) requestAnimationFrame(step); else document.body.style.background = '#00f'; }; step();</script>`,
      ),
  });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

function navigate(sandbox: Sandbox, place: string, rest: object = {}) {
  return sandbox.ok('POST /v2/browser/navigate', { url: site.url(place), ...rest });
}

/** When the page has the colour, in ms since 1970: its next frame draws it. */
async function paint(sandbox: Sandbox, colour: string): Promise<number> {
  const expression = `(document.body.style.background = '${colour}', Date.now())`;
  return (await sandbox.ok('POST /v2/browser/evaluate', { expression }))['value'] as number;
}

test(
  'BROWSER-LIVE a change is seen soon after it, and a still page sends nothing',
  async ({ sandbox }) => {
    await navigate(sandbox, '/colour?name=red');
    await using client = new LiveClient(sandbox, path);
    const first = await client.sees('the page is red', (picture) => isColour(picture, red));
    const { viewport } = (await sandbox.ok('GET /v2/browser/info')) as { viewport: object };
    expect(first.sequence).toBe(1);
    expect([first.width, first.height]).toEqual([first.screen.width, first.screen.height]);
    expect(viewport).toMatchObject({ width: expect.any(Number) });
    const delays: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const [name, colour] = round % 2 === 0 ? (['#0f0', green] as const) : (['#f00', red] as const);
      const seen = client.pictures.length;
      const paintedMs = await paint(sandbox, name);
      const { arrivedMs } = await client.sees(
        `the page is ${name}`,
        async (picture) => picture.sequence > seen && (await isColour(picture, colour)),
      );
      delays.push(arrivedMs - paintedMs);
    }
    // The slowest of all shows what else runs on the machine.
    expect(delays.toSorted((a, b) => a - b)[5]).toBeLessThan(150);
    const { sequence } = client.latest!;
    await Bun.sleep(1500); // Nothing happens in this time, which no event can tell.
    expect(client.latest!.sequence).toBe(sequence);
  },
  options,
);

test(
  'BROWSER-LIVE without a tab the active one is shown, also when another becomes active or it is closed',
  async ({ sandbox }) => {
    const { tab_id: first } = await navigate(sandbox, '/colour?name=red');
    await using client = new LiveClient(sandbox, path);
    await using pinned = new LiveClient(sandbox, `${path}?tab_id=${first as string}`);
    await client.sees('the first tab', async (picture) => picture.tab_id === first && (await isColour(picture, red)));
    const second = await sandbox.ok('POST /v2/browser/tabs', { url: site.url('/colour?name=lime') });
    const id = second['tab_id'] as string;
    await client.sees('the second tab', async (picture) => picture.tab_id === id && (await isColour(picture, green)));
    await sandbox.ok(`POST /v2/browser/tabs/${first as string}/activate`, {});
    await until('the first tab is shown', () => client.latest!.tab_id === first);
    await sandbox.ok(`POST /v2/browser/tabs/${id}/activate`, {});
    await until('the second tab is shown', () => client.latest!.tab_id === id);
    const seen = client.latest!.sequence;
    await sandbox.ok(`DELETE /v2/browser/tabs/${id}`);
    await client.sees('the first tab again', (picture) => picture.sequence > seen && picture.tab_id === first);
    expect(pinned.pictures.every(({ tab_id: tab }) => tab === first)).toBe(true);
  },
  options,
);

test(
  'BROWSER-LIVE a tab that is not there or closes, and a browser that is away or dies, end it with an error',
  async ({ sandbox }) => {
    const unknown = await new LiveClient(sandbox, `${path}?tab_id=none`).ended();
    expect(unknown).toMatchObject({
      code: 4000,
      error: { code: 'tab_not_found', retryable: false, hint: expect.stringContaining('GET /v2/browser/tabs') },
    });
    const { tab_id: id } = await sandbox.ok('POST /v2/browser/tabs', { url: site.url('/colour?name=blue') });
    const client = new LiveClient(sandbox, `${path}?tab_id=${id as string}`);
    await client.sees('the tab', (picture) => isColour(picture, blue));
    await sandbox.ok(`DELETE /v2/browser/tabs/${id as string}`);
    expect(await client.ended()).toMatchObject({ code: 4000, error: { code: 'tab_not_found' } });

    const watching = new LiveClient(sandbox, path);
    await watching.sees('a picture', () => true);
    await chromium.kill();
    expect(await watching.ended()).toMatchObject({ code: 4000, error: { code: 'unavailable', retryable: true } });
    expect(await new LiveClient(sandbox, path).ended()).toMatchObject({
      code: 4000,
      error: { code: 'unavailable', hint: expect.stringContaining('--remote-debugging-port') },
    });
    await chromium.launch();
    await using again = new LiveClient(sandbox, path);
    await again.sees('a picture of the new browser', () => true);
  },
  options,
);

test(
  'LIVE-PACE a client that acknowledges nothing gets two pictures, and then the newest one',
  async ({ sandbox }) => {
    await navigate(sandbox, '/busy');
    await using client = new LiveClient(sandbox, path, { acknowledges: false });
    await using other = new LiveClient(sandbox, path);
    await other.sees('many pictures', ({ sequence }) => sequence === 30);
    expect(client.pictures.map(({ sequence }) => sequence)).toEqual([1, 2]);
    await sandbox.ok('POST /v2/browser/evaluate', { expression: 'window.last = true' });
    await other.sees('the last picture', (picture) => isColour(picture, blue));
    expect(client.pictures.length).toBe(2);
    client.acknowledge(2);
    await until('one more picture', () => client.pictures.length === 3);
    expect(await isColour(client.latest!, blue)).toBe(true);
  },
  options,
);

test(
  'LIVE-PACE floods and wrong messages end their own socket only, and take no memory',
  async ({ sandbox }) => {
    await navigate(sandbox, '/busy');
    await using other = new LiveClient(sandbox, path);
    await other.sees('a picture', () => true);
    const beforeMib = memoryOf(sandbox.daemonPid).anonymousMib;
    const wrong = [
      '{',
      '{"type":"ack"}',
      '{"type":"ack","sequence":99}',
      '{"type":"input"}',
      `"${'x'.repeat(2 ** 20)}"`,
    ];
    for (const message of [...wrong, new Uint8Array(2 ** 20)]) {
      const client = new LiveClient(sandbox, path, { acknowledges: false });
      await client.sees('a picture', () => true);
      for (let count = 0; count < 50; count += 1) client.send(message);
      expect(await client.ended()).toMatchObject({ code: 4000, error: { code: 'malformed_request' } });
    }
    await using flooding = new LiveClient(sandbox, path, { acknowledges: false });
    await flooding.sees('a picture', () => true);
    for (let count = 0; count < 20_000; count += 1) flooding.acknowledge(1);
    const { sequence } = other.latest!;
    await other.sees('the other goes on', (picture) => picture.sequence > sequence + 5);
    expect(memoryOf(sandbox.daemonPid).anonymousMib - beforeMib).toBeLessThan(60);
  },
  options,
);

test(
  'LIVE-END it takes a stream, a key and an upgrade, and ends with the daemon',
  async ({ sandbox }) => {
    const refused = async (...headers: string[]) =>
      statusOf(await headOf(sandbox.url, upgradeRequest(path, ['Host: localhost', ...headers])));
    expect(await refused()).toBe(401);
    expect(await refused('X-Api-Key: secret', 'Origin: http://evil.example')).toBe(403);
    const plain = await sandbox.request(`GET ${path}`, undefined, { 'x-api-key': 'secret' });
    expect([plain.status, plain.body.data['code']]).toEqual([426, 'upgrade_required']);
    const key = `svc.key.${Buffer.from('secret').toString('base64url')}`;
    const client = new LiveClient(sandbox, path, { protocols: ['svc.v2', key] });
    await client.sees('a picture', () => true);
    expect(await refused('X-Api-Key: secret')).toBe(429);
    expect(await sandbox.stop()).toBe(0);
    expect((await client.closed).code).toBe(1001);
  },
  { env: () => ({ ...options.env(), SVC_API_KEY: 'secret', SVC_MAX_STREAMS: '1' }) },
);

test(
  'LIVE-END an upgrade lets clients connect to the next daemon',
  async ({ sandbox }) => {
    const client = new LiveClient(sandbox, path);
    await client.sees('a picture', () => true);
    expect(await sandbox.upgrade()).toMatchObject({ code: 0 });
    expect((await client.closed).code).toBe(1001);
    await using next = new LiveClient(sandbox, path);
    await next.sees('a picture of the next daemon', () => true);
  },
  options,
);
