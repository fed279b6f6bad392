/** Windows of a real display: listed, activated and minimized without a window manager and with one. */
import { expect, test } from 'bun:test';
import { TestDisplay } from '../../../../../test/harness/display.ts';
import { needPrograms } from '../../../../../test/harness/programs.ts';
import { until } from '../../../../../test/harness/until.ts';
import { Display } from '../../../platform/x11/display.ts';
import { supportedBy } from './manager.ts';
import { Windows } from './windows.ts';

const options = { signal: new AbortController().signal };

for (const manager of [null, 'openbox']) {
  const name = manager ?? 'no window manager';

  test(`with ${name}, windows are listed, minimized and activated`, async () => {
    needPrograms('xterm', ...(manager === null ? [] : [manager]));
    await using server = await TestDisplay.start();
    const display = await Display.open({ name: server.name, authority: null, withinMs: 20_000 });
    const windows = new Windows(display);
    if (manager !== null) {
      server.spawn([manager]);
      await until('the manager runs', async () => (await supportedBy(display, options)) !== null);
    }
    const first = server.spawn(['xterm', '-T', 'Größe', '-geometry', '40x10+100+80', '-e', 'sleep', '1000']);
    const named = async () => new Map((await windows.list(options)).windows.map((each) => [each.title, each]));
    // A manager gives a new window the focus, and would take it from a window that is activated meanwhile.
    const isThere = async (title: string) => ((await named()).get(title)?.isActive ?? null) === (manager !== null);
    await until('the first window is there', () => isThere('Größe'));
    server.spawn(['xterm', '-T', 'second', '-geometry', '40x10+500+400', '-e', 'sleep', '1000']);
    await until('both windows are there', () => isThere('second'));

    const one = (await named()).get('Größe')!;
    expect(one).toMatchObject({ processId: first.pid, isMinimized: false });
    // With a frame, the place belongs to the frame.
    expect(one.bounds).toMatchObject({ x: 100, y: 80 });
    await windows.activate(one.id, options);
    expect((await named()).get('Größe')).toMatchObject({ isActive: true, isMinimized: false });
    // Openbox changes the order after the active window.
    await until('the window is the highest', async () => [...(await named()).keys()][0] === 'Größe');

    const before = (await windows.list(options)).snapshotId;
    await windows.minimize(one.id, options);
    expect((await named()).get('Größe')).toMatchObject({ isActive: false, isMinimized: true });
    expect((await windows.list(options)).snapshotId).not.toBe(before);
    await windows.activate(one.id, options);
    expect((await named()).get('Größe')).toMatchObject({ isActive: true, isMinimized: false });

    first.kill();
    await until('the window of a program that ended is gone', async () => !(await named()).has('Größe'));
    for (const id of [one.id, '0', 'x', `0x${display.root.toString(16)}`]) {
      expect(await failureOf(windows.activate(id, options))).toMatchObject({ code: 'bad_argument' });
    }
    display.close();
  });
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}
