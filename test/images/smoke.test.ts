/** One container of each image, through the gateway: the API, a command, the browser, the viewer and the desktop. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

test.each(['daemon', 'computer'] as const)(
  'IMG-1 IMG-2 the %s image serves commands, its browser, its viewer and its display behind the key',
  async (image) => {
    const key = 'smoke-canary';
    await using container = await Container.start({ image, key, env: { BROWSER_START_MODE: 'auto' } });
    expect(await container.status('/v2/sandbox', { 'x-api-key': 'wrong' })).toBe(401);
    expect(await container.output('id -un; python3 -c "print(6 * 7)"; node -p "6 * 7"')).toBe('agent\n42\n42');
    const url = 'data:text/html,<title>smoke</title>';
    await container.untilServed('/cdp/json/version');
    expect(await container.ok('POST /v2/browser/navigate', { url })).toMatchObject({ title: 'smoke' });
    expect(await container.status('/vnc/')).toBe(200);
    await until('the worker answers', async () => (await container.status('/v2/computer/info')) === 200, slowMs);
    const picture = await container.fetch('/v2/computer/screenshot');
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(container.logs()).not.toContain(key);
    container.stop(10);
    expect(container.exitCode).toBe(0);
  },
);
