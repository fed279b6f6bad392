/** The computer image: its desktop, the launcher of the browser, the accessibility bus and a recording. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';
import type { Json } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

let container: Container;

const act = (body: Json) => container.ok('POST /v2/computer/actions', body as object);
const titles = async () => {
  const { windows } = await container.ok('GET /v2/computer/windows');
  return (windows as Json[]).map((window) => window.title as string);
};

beforeAll(async () => {
  container = await Container.start({ image: 'computer' });
  const isDrawn = async () => {
    if ((await container.status('/v2/computer/windows')) !== 200) return false;
    const shown = await titles();
    return ['Desktop', 'xfce4-panel'].every((title) => shown.includes(title));
  };
  await until('the desktop is drawn', isDrawn, slowMs);
});
afterAll(() => container[Symbol.asyncDispose]());

test('IMG-2 IMG-6 the computer image shows an XFCE desktop to its worker', async () => {
  expect(
    await container.output(
      'pgrep -x xfce4-session >/dev/null && pgrep -f "[d]bus-daemon --session" >/dev/null && echo both',
    ),
  ).toBe('both');
  expect(await container.capabilities()).toMatchObject({
    computer: { status: 'ready', display: ':99', recording: true, accessibility_backend: 'at-spi' },
  });
});

test('IMG-7 IMG-11 no browser runs until the launcher is used; its page is then read over the accessibility bus', async () => {
  expect(await container.status('/cdp/json/version')).toBe(503);
  const { nodes } = await container.ok('GET /v2/computer/accessibility/nodes?scope=desktop&limit=5');
  expect((nodes as Json[]).length).toBeGreaterThan(0);
  await container.ok('POST /v2/computer/record', { action: 'start', save_path: '/home/agent/demo.mp4' });
  // The icon of the desktop.
  await act({ action_type: 'DOUBLE_CLICK', x: 60, y: 75 });
  await container.untilServed('/cdp/json/version');
  const url = 'data:text/html,<title>t</title><button>Save the order</button>';
  await until(
    'the page is open',
    async () => {
      const response = await container.fetch('/v2/browser/navigate', {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ url }) },
      });
      return response.status === 200;
    },
    slowMs,
  );
  const button = '/v2/computer/accessibility/nodes?scope=desktop&role=push%20button&name=Save%20the%20order';
  await until(
    'the button is in the tree',
    async () => {
      const response = await container.fetch(button);
      return response.status === 200 && (await response.text()).includes('"bounds"');
    },
    slowMs,
  );
  const film = await container.ok('POST /v2/computer/record', { action: 'stop' });
  expect([film['status'], (film['file_size_bytes'] as number) > 10_000]).toEqual(['stopped', true]);
  await container
    .output('ffprobe -v error /home/agent/demo.mp4 && echo playable')
    .then((text) => expect(text).toBe('playable'));
});

test('IMG-11 each way to a browser leads to the one that clients drive', async () => {
  await container.untilServed('/cdp/json/version');
  const urls = async () => {
    const targets = (await (await container.fetch('/cdp/json/list')).json()) as Json[];
    return targets.filter((target) => target.type === 'page').map((target) => target.url as string);
  };
  const opened = {
    'http://127.0.0.1:3999/exo': 'exo-open --launch WebBrowser http://127.0.0.1:3999/exo',
    'http://127.0.0.1:3999/xdg?a=b%20c&d=e#f': "xdg-open 'http://127.0.0.1:3999/xdg?a=b%20c&d=e#f'",
    'http://127.0.0.1:3999/alternative': 'x-www-browser 127.0.0.1:3999/alternative',
    'http://127.0.0.1:3999/python': 'python3 -m webbrowser http://127.0.0.1:3999/python',
    'file:///home/agent/a.html': 'cd /home/agent && echo hello >a.html && image-browser a.html',
  };
  for (const [url, command] of Object.entries(opened)) {
    await container.ok('POST /v2/commands', { command });
    await until(`${url} is open`, async () => (await urls()).includes(url), slowMs);
  }
  const before = (await urls()).length;
  // The first launcher of the panel.
  await act({ action_type: 'CLICK', x: 136, y: 17 });
  await until('the launcher of the panel has opened a tab', async () => (await urls()).length === before + 1, slowMs);
  expect(await container.output('pgrep -fa "[c]hromium/chromium " | grep -vc -- --type=')).toBe('1');
  const hidden = 'grep -l Hidden=true /usr/local/share/applications/*.desktop | xargs -n 1 basename | sort';
  expect(await container.output(hidden)).toBe(
    'chromium.desktop\nxfce4-mail-reader.desktop\nxfce4-session-logout.desktop',
  );
});

test('IMG-2 the desktop has one workspace and no black background', async () => {
  expect(await container.output('xprop -root _NET_NUMBER_OF_DESKTOPS')).toEndWith('= 1');
  const colour =
    'ffmpeg -loglevel error -f x11grab -video_size 1x1 -i :99+600,300 -frames:v 1 -f rawvideo -pix_fmt gray - | od -An -tu1';
  expect(Number(await container.output(colour))).toBeGreaterThan(20);
});
