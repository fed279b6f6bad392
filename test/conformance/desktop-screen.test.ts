/** The screen of a desktop over HTTP, on each X server: what clients of both versions read of it and do on it. */
import { afterAll, beforeAll, describe, test } from 'bun:test';
import { AccessibleDesktop, type AccessibleWindow } from '../harness/accessible-desktop.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { displayServers } from '../harness/display.ts';
import { hangMs } from '../harness/fair-clock.ts';
import { EventWindow } from '../harness/gtk-log.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, Sandbox, type Json, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const full = { width: 1280, height: 800 };
const actionRoutes = ['POST /v2/computer/actions', 'POST /v2/browser/actions', 'POST /v1/browser/actions'];
const configRoutes = ['POST /v2/computer/config', 'POST /v2/browser/config', 'POST /v1/browser/config'];

describe.each([...displayServers])('on %s', (server) => {
  let desktop: AccessibleDesktop;
  let worker: ComputerWorker;
  let sandbox: Sandbox;
  let events: EventWindow;
  let widgets: AccessibleWindow;

  beforeAll(async () => {
    needPrograms('openbox', 'xterm');
    desktop = await AccessibleDesktop.start({ server });
    desktop.display.spawn(['openbox'], desktop.environment);
    worker = await ComputerWorker.start({ env: desktop.environment });
    sandbox = await Sandbox.start({ env: worker.environment });
    widgets = await desktop.open('Widgets');
    desktop.display.spawn([
      'xterm',
      '-T',
      'Größe',
      '-bg',
      '#1280fe',
      '-geometry',
      '40x10+800+20',
      '-e',
      'sleep',
      '1000',
    ]);
    events = await EventWindow.open(desktop.display, 'Events');
    await until('all windows are there', async () => (await windows()).length === 3);
  }, hangMs);
  afterAll(async () => {
    await sandbox.close();
    await worker[Symbol.asyncDispose]();
    await desktop[Symbol.asyncDispose]();
  }, hangMs);

  const windows = async (): Promise<Json[]> => (await sandbox.ok('GET /v2/computer/windows'))['windows'];
  const named = async (title: string): Promise<Json> => (await windows()).find((window) => window.title === title);
  const cursor = () => sandbox.ok('GET /v2/computer/cursor');
  const act = async (body: object, route = actionRoutes[0]!): Promise<JsonObject> => await sandbox.ok(route, body);
  const batch = (...actions: object[]) => sandbox.ok('POST /v2/computer/actions/batch', { actions });

  test('DESK-1 the display is described', async () => {
    expect(await sandbox.ok('GET /v2/computer/info')).toMatchObject({
      ...{ available: true, display: desktop.display.name, screen_resolution: full },
      capabilities: { screenshot: true, actions: true, clipboard: true, accessibility: true },
    });
  });

  test('DESK-1 pictures have the formats, sizes and colours that the client asks for', async () => {
    const picture = async (query: string, accept = '*/*') => {
      const answer = await sandbox.fetch(`GET /v2/computer/screenshot${query}`, undefined, { headers: { accept } });
      expect(answer.status).toBe(200);
      const sizes = ['x-image-width', 'x-image-height', 'x-screen-width', 'x-screen-height'];
      const metadata = await new Bun.Image(await answer.bytes()).metadata();
      const headers = sizes.map((name) => Number(answer.headers.get(name)));
      expect([metadata.width, metadata.height]).toEqual(headers.slice(0, 2));
      return { format: metadata.format, headers };
    };
    expect(await picture('')).toEqual({ format: 'png', headers: [1280, 800, 1280, 800] });
    expect(await picture('?scale_to=640x400', 'image/webp')).toEqual({
      format: 'webp',
      headers: [640, 400, 1280, 800],
    });
    expect(await picture('?format=jpeg')).toEqual({ format: 'jpeg', headers: [1280, 800, 1280, 800] });
    expect(await picture('?x=10&y=10&width=100&height=50')).toEqual({ format: 'png', headers: [100, 50, 1280, 800] });
    const { status, body } = await sandbox.request('GET /v2/computer/screenshot?x=5');
    expect([status, body.message]).toEqual([400, 'x, y, width and height belong together']);
  });

  test('DESK-1 windows have their title, process, place and state, and are activated and minimized', async () => {
    const { bounds, window_id: id, ...rest } = await named('Größe');
    expect(rest).toMatchObject({ title: 'Größe', process_id: expect.any(Number), minimized: false });
    expect(bounds).toMatchObject({ x: 800, y: 20 });
    const { snapshot_id: before } = await sandbox.ok('GET /v2/computer/windows');
    await act({ action_type: 'WINDOW_ACTIVATE', window_id: id });
    expect(await named('Größe')).toMatchObject({ active: true });
    await act({ action_type: 'WINDOW_MINIMIZE', window_id: id });
    expect(await named('Größe')).toMatchObject({ active: false, minimized: true });
    expect((await sandbox.ok('GET /v2/computer/windows'))['snapshot_id']).not.toBe(before);
    await act({ action_type: 'WINDOW_ACTIVATE', window_id: id });
    expect(await named('Größe')).toMatchObject({ active: true, minimized: false });
    const gone = await sandbox.request(actionRoutes[0]!, { action_type: 'WINDOW_ACTIVATE', window_id: '0x7' });
    expect([gone.status, gone.body.success]).toEqual([400, false]);
  });

  test('DESK-1 DESK-3 BROWSER-14 the pointer moves, clicks, drags and scrolls by the routes of each version', async () => {
    await act({ action_type: 'WINDOW_ACTIVATE', window_id: (await named('Events')).window_id });
    const { x, y } = events.canvas;
    for (const [index, route] of actionRoutes.entries()) {
      events.clear();
      const at = { x: x + 20 + index, y: y + 20 };
      expect(await act({ action_type: 'CLICK', ...at, button: 'right' }, route)).toMatchObject({
        ...{ status: 'success', action_performed: 'CLICK' },
      });
      expect(await cursor()).toEqual(at);
      await act({ action_type: 'SCROLL', dy: -2 }, route);
      await act({ action_type: 'DRAG_REL', x_offset: 60, y_offset: 30 }, route);
      await events.has('the drag has ended', () => events.of(['release'], 'button').at(-1)?.button === 1);
      expect(events.of(['press', 'release', 'scroll'], 'kind', 'button', 'direction', 'x', 'y') as unknown).toEqual([
        { kind: 'press', button: 3, ...at },
        { kind: 'release', button: 3, ...at },
        { kind: 'scroll', direction: 'up' },
        { kind: 'scroll', direction: 'up' },
        { kind: 'press', button: 1, ...at },
        { kind: 'release', button: 1, x: at.x + 60, y: at.y + 30 },
      ]);
    }
  });

  test('DESK-1 DESK-3 keys and text reach the window, whatever the alphabet', async () => {
    await act({ action_type: 'WINDOW_ACTIVATE', window_id: (await named('Events')).window_id });
    await act({ action_type: 'CLICK', x: events.field.x + 20, y: events.field.y + 20 });
    for (const route of actionRoutes) {
      await act({ action_type: 'HOTKEY', keys: ['ctrl', 'a'] }, route);
      await act({ action_type: 'TYPING', text: 'Ab{}~ é 日本 👋' }, route);
      await events.shows('Ab{}~ é 日本 👋');
      await act({ action_type: 'PRESS', key: 'BackSpace' }, route);
      await events.shows('Ab{}~ é 日本 ');
    }
    await act({ action_type: 'HOTKEY', keys: ['ctrl', 'a'] });
    await act({ action_type: 'TYPING', text: 'ключ 鍵', use_clipboard: false });
    await events.shows('ключ 鍵');
  });

  test('DESK-1 the clipboard is set, read, pasted, and copied to by a program', async () => {
    await act({ action_type: 'WINDOW_ACTIVATE', window_id: (await named('Events')).window_id });
    const clipboard = async () => (await sandbox.ok('GET /v2/computer/clipboard'))['text'];
    await act({ action_type: 'SET_CLIPBOARD', text: 'gesetzt 👋' });
    expect(await clipboard()).toBe('gesetzt 👋');
    await batch({ action_type: 'HOTKEY', keys: ['ctrl', 'a'] }, { action_type: 'HOTKEY', keys: ['ctrl', 'v'] });
    await events.shows('gesetzt 👋');
    await batch({ action_type: 'PRESS', key: 'x' }, { action_type: 'HOTKEY', keys: ['ctrl', 'a'] });
    await events.shows('gesetzt 👋x');
    await act({ action_type: 'HOTKEY', keys: ['ctrl', 'c'] });
    await until('the program has copied', async () => (await clipboard()) === 'gesetzt 👋x');

    const mebibyte = 'é'.repeat(512 * 1024);
    await act({ action_type: 'SET_CLIPBOARD', text: mebibyte });
    expect((await clipboard()) === mebibyte).toBe(true);
    const refused = await sandbox.request(actionRoutes[0]!, { action_type: 'SET_CLIPBOARD', text: `${mebibyte}x` });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'the text has 1048577 bytes, and the clipboard takes 1048576',
    ]);
    expect((await clipboard()) === mebibyte).toBe(true);
  });

  test('DESK-1 a batch answers how far it came, with a picture', async () => {
    const done = await sandbox.request('POST /v2/computer/actions/batch', {
      include_screenshot: true,
      actions: [
        { action_type: 'MOVE_TO', x: 5, y: 6 },
        { action: 'mouse_move', coordinate: [7, 8] },
        { type: 'keypress', keys: ['NOSUCHKEY'] },
      ],
    });
    expect(done.body.data).toMatchObject({ performed: 2, failed_index: 2, status: 'failed' });
    expect(done.body.data['error']).toContain('NOSUCHKEY');
    expect(done.body.data['screenshot_info']).toMatchObject({ mime_type: 'image/png', ...full });
    expect(await cursor()).toEqual({ x: 7, y: 8 });
  });

  test('DESK-A11Y-NODES DESK-A11Y-ACT a button is found by its name and invoked, and a slider is set', async () => {
    const query = 'scope=desktop&timeout_ms=30000&role=button&name=Widgets%202';
    const { nodes } = await sandbox.ok(`GET /v2/computer/accessibility/nodes?${query}`);
    expect(nodes).toMatchObject([{ name: 'Widgets 2', bounds: expect.any(Object) }]);
    await act({ action_type: 'NODE_INVOKE', node_id: nodes[0].node_id });
    await widgets.prints('clicked Widgets 2');
    const found = await sandbox.ok('GET /v2/computer/accessibility/nodes?scope=desktop&timeout_ms=30000&name=Volume');
    await act({ action_type: 'NODE_SET_VALUE', node_id: found['nodes'][0].node_id, value: 37 });
    await widgets.prints('value 37');
    await act({ action_type: 'NODE_SET_VALUE', node_id: found['nodes'][0].node_id, value: '38' });
    await widgets.prints('value 38');
    const tree = await sandbox.ok('GET /v2/computer/accessibility?scope=desktop&timeout_ms=30000');
    expect(JSON.stringify(tree['nodes'])).toContain('"name":"Widgets 2"');
  });

  test('DESK-1 DESK-3 BROWSER-8 the screen changes its size by the routes of each version', async () => {
    const [small, large] = [{ width: 800, height: 600 }, full];
    for (const route of configRoutes) {
      for (const resolution of [small, large]) {
        expect(await sandbox.ok(route, { resolution })).toEqual({ resolution });
        expect((await sandbox.ok('GET /v2/computer/info'))['screen_resolution']).toEqual(resolution);
      }
    }
  });
});
