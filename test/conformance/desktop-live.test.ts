/** A display that is watched live, on each X server: its pictures, and how the watching ends. */
import { afterAll, beforeAll, describe, test } from 'bun:test';
import { ColourWindow } from '../harness/colour-window.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { displayServers, TestDisplay } from '../harness/display.ts';
import { hangMs } from '../harness/fair-clock.ts';
import { isColour, LiveClient } from '../harness/live-client.ts';
import { expect, Sandbox, test as sandboxTest } from '../harness/sandbox.ts';
import { cpuTicks, until } from '../harness/until.ts';

const path = '/v2/computer/live';
const [red, green] = [
  [255, 0, 0],
  [0, 255, 0],
] as const;
/** Hundredths of a second in one and a half seconds, in which the daemon asks once whether the worker lives. */
const maxIdleTicks = 4;

describe.each([...displayServers])('on %s', (server) => {
  let display: TestDisplay;
  let worker: ComputerWorker;
  let sandbox: Sandbox;
  let window: ColourWindow;

  beforeAll(async () => {
    display = await TestDisplay.start({ server });
    worker = await ComputerWorker.start({ env: display.environment });
    sandbox = await Sandbox.start({ env: worker.environment });
    window = ColourWindow.open(display, '#f00');
    await using client = new LiveClient(sandbox, path);
    await client.sees('the window', (picture) => isColour(picture, red));
  }, hangMs);
  afterAll(async () => {
    await sandbox.close();
    await worker[Symbol.asyncDispose]();
    await display[Symbol.asyncDispose]();
  }, hangMs);

  test('DESK-CHANGES a client waits until the display differs from a version', async () => {
    const changes = (query = '') => sandbox.ok(`GET /v2/computer/changes${query}`);
    const { version, changed } = await changes();
    expect(changed).toBe(true);
    // The first look may be followed by a change that was under way.
    const still = await changes(`?since=${version as string}&wait_seconds=0.5`);
    const { version: quiet } = still['changed'] === true ? await changes('?wait_seconds=0') : still;
    const since = `?since=${quiet as string}&wait_seconds`;
    expect(await changes(`${since}=0.2`)).toEqual({ version: quiet, changed: false });
    const next = changes(`${since}=30`);
    window.show('#f00');
    const { changed: isDrawn, version: drawn } = await next;
    expect([isDrawn, drawn === quiet]).toEqual([true, false]);
    expect((await changes('?since=of-another-worker&wait_seconds=30'))['changed']).toBe(true);
    expect((await sandbox.request('GET /v2/computer/changes?wait_seconds=61')).status).toBe(422);
  });

  test('DESK-LIVE a change is seen soon after it, and so is the pointer', async () => {
    await using client = new LiveClient(sandbox, path);
    await using second = new LiveClient(sandbox, path);
    const first = await client.sees('the window', (picture) => isColour(picture, red));
    expect(first).toMatchObject({ sequence: 1, width: 1280, height: 800, tab_id: null });
    expect(first.screen).toEqual({ width: 1280, height: 800 });
    const delays: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const [name, colour] = round % 2 === 0 ? (['#0f0', green] as const) : (['#f00', red] as const);
      const seen = client.latest!.sequence;
      const askedMs = window.show(name);
      const { arrivedMs } = await client.sees(
        `the window is ${name}`,
        async (picture) => picture.sequence > seen && (await isColour(picture, colour)),
      );
      delays.push(arrivedMs - askedMs);
    }
    // The slowest of all shows what else runs on the machine.
    expect(delays.toSorted((a, b) => a - b)[5]).toBeLessThan(150);
    await second.sees('the same for another client', (picture) => isColour(picture, green));
    const { sequence } = client.latest!;
    await sandbox.ok('POST /v2/computer/actions', { action_type: 'MOVE_TO', x: 600, y: 400 });
    await client.sees('the pointer', (picture) => picture.sequence > sequence);
  });

  test('DESK-LIVE a still display sends nothing and costs nothing', async () => {
    await using client = new LiveClient(sandbox, path);
    await client.sees('the window', () => true);
    let sequence = 0;
    await until('nothing is under way', async () => {
      ({ sequence } = client.latest!);
      await Bun.sleep(300);
      return client.latest!.sequence === sequence;
    });
    const ticks = () => cpuTicks(sandbox) + cpuTicks({ daemonPid: worker.pid });
    const before = ticks();
    await Bun.sleep(1500); // Nothing happens in this time, which no event can tell.
    expect(client.latest!.sequence).toBe(sequence);
    expect(ticks() - before).toBeLessThanOrEqual(maxIdleTicks);
  });

  test('LIVE-PACE a client that acknowledges nothing gets two pictures, and then the newest one', async () => {
    await using client = new LiveClient(sandbox, path, { acknowledges: false });
    await using other = new LiveClient(sandbox, path);
    await client.sees('the window', () => true);
    for (let round = 0; round < 6; round += 1) {
      const { sequence } = other.latest!;
      window.show(round % 2 === 0 ? '#00f' : '#0f0');
      await other.sees('each change', (picture) => picture.sequence > sequence);
    }
    await other.sees('the last change', (picture) => isColour(picture, green));
    expect(client.pictures.length).toBe(2);
    client.acknowledge(2);
    await until('one more picture', () => client.pictures.length === 3);
    expect(await isColour(client.latest!, green)).toBe(true);
  });

  test('DESK-LIVE another size of the display is shown', async () => {
    await using client = new LiveClient(sandbox, path);
    await client.sees('the window', () => true);
    await sandbox.ok('POST /v2/computer/config', { resolution: { width: 1024, height: 768 } });
    await client.sees('the new size', ({ screen, width }) => screen.width === 1024 && width === 1024);
    await sandbox.ok('POST /v2/computer/config', { resolution: { width: 1280, height: 800 } });
  });

  test('DESK-LIVE a display or a worker that goes ends it with an error, and one that is back is shown', async () => {
    const watching = new LiveClient(sandbox, path);
    await watching.sees('the window', () => true);
    await display.kill();
    expect(await watching.ended()).toMatchObject({
      code: 4000,
      error: { code: 'unavailable', retryable: true, hint: expect.stringContaining('Start the X server') },
    });
    await display.launch();
    const again = new LiveClient(sandbox, path);
    await again.sees('the display', () => true);
    await worker.end('SIGKILL');
    expect(await again.ended()).toMatchObject({
      code: 4000,
      error: { code: 'unavailable', hint: expect.stringContaining('boxkeep computer-use') },
    });
    await worker.launch();
    await using back = new LiveClient(sandbox, path);
    await back.sees('the display of the next worker', () => true);
  });
});

sandboxTest('DESK-LIVE without a worker the error says how to start one', async ({ sandbox }) => {
  expect(await new LiveClient(sandbox, path).ended()).toMatchObject({
    code: 4000,
    error: { code: 'unavailable', hint: expect.stringContaining('boxkeep computer-use --port 9') },
  });
});
