/** What the desktop of the worker leaves on a real display. */
import { expect, test } from 'bun:test';
import { TestDisplay } from '../../../../test/harness/display.ts';
import { openDesktop } from '../../compose/display.ts';
import { Display } from '../../platform/x11/display.ts';

const plain = { signal: new AbortController().signal, coordinates: null, screenshot: null };

test('DESK-1 a worker that stops right after typing leaves the keyboard as it was', async () => {
  await using server = await TestDisplay.start();
  const display = await Display.open({ name: server.name, authority: null, withinMs: 20_000 });
  const keysyms = async () => (await display.keyboard.mapping()).keysyms.filter((keysym) => keysym !== 0);
  const before = await keysyms();
  const desktop = openDesktop(server.environment);
  await desktop.perform({ type: 'type', text: '鍵盤', usesClipboard: false }, plain);
  expect((await keysyms()).length).toBeGreaterThan(before.length);
  await desktop.close();
  expect(await keysyms()).toEqual(before);
  display.close();
});

test('DESK-1 a desktop is closed after its display has gone', async () => {
  await using server = await TestDisplay.start();
  const desktop = openDesktop(server.environment);
  await desktop.perform({ type: 'type', text: '鍵盤', usesClipboard: false }, plain);
  await server.kill();
  await desktop.close();
  expect(await desktop.info(plain)).toMatchObject({ isAvailable: false });
});
