/** Every action of the pointer and the keyboard, against a window that prints the events that it receives. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestDisplay } from '../../../../../test/harness/display.ts';
import { EventWindow } from '../../../../../test/harness/gtk-log.ts';
import { needPrograms } from '../../../../../test/harness/programs.ts';
import { until } from '../../../../../test/harness/until.ts';
import { keyTables } from '../../../assets/desktop.ts';
import { Display } from '../../../platform/x11/display.ts';
import { SelectionOwner } from '../../../platform/x11/selection-owner.ts';
import { readSelection, readTargets } from '../../../platform/x11/selection-reader.ts';
import { Clipboard } from '../clipboard/clipboard.ts';
import { Paste } from '../clipboard/paste.ts';
import { KeyNames } from '../input/key-names.ts';
import { Keyboard } from '../input/keyboard.ts';
import { DesktopPointer } from '../input/pointer.ts';
import { Typist } from '../input/typist.ts';
import type { DesktopAction } from './action.ts';
import { ActionQueue } from './batch.ts';
import type { ActionDevices } from './perform.ts';

const signal = new AbortController().signal;
const plain = { signal, coordinates: null, screenshot: null };

let server: TestDisplay;
let display: Display;
let queue: ActionQueue;
let devices: ActionDevices;
let window: EventWindow;

beforeAll(async () => {
  needPrograms('setxkbmap', 'xterm');
  server = await TestDisplay.start();
  display = await Display.open({ name: server.name, authority: null, withinMs: 20_000 });
  devices = devicesOf(display);
  queue = new ActionQueue(() => Promise.resolve(devices));
  window = await EventWindow.open(server);
}, 60_000);

afterAll(async () => {
  display.close();
  await server[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await layout('us');
  window.clear();
  await act({ type: 'press', chords: [['ctrl', 'a'], ['Delete']], holdSeconds: 0 });
  await window.has('the field is empty', () => window.of(['keyup'], 'name').at(-1)?.name === 'Delete');
  window.clear();
});

function devicesOf(on: Display): ActionDevices {
  const owner = new SelectionOwner(on);
  const keyboard = new Keyboard(on, new KeyNames(keyTables));
  const clipboard = new Clipboard(owner, {
    read: (query) => readSelection(on, query),
    targets: (selection, ending) => readTargets(on, selection, ending),
  });
  const press = async (chord: readonly string[]) => await keyboard.press(chord, { signal, holdMs: 0 });
  const paste = new Paste({ display: on, owner, clipboard, press });
  const size = async () => await on.windows.geometry(on.root);
  return {
    pointer: new DesktopPointer(on.input, size),
    keyboard,
    typist: new Typist(keyboard, paste),
    clipboard,
    screen: { size, screenshot: () => Promise.reject(new Error('no pictures here')) },
    windows: { activate: () => Promise.resolve(), minimize: () => Promise.resolve() },
    nodes: { focus: () => Promise.resolve(), invoke: () => Promise.resolve(), setValue: () => Promise.resolve(true) },
  };
}

async function act(...actions: readonly DesktopAction[]): Promise<void> {
  for (const action of actions) await queue.perform(action, plain);
}

async function layout(...args: readonly string[]): Promise<void> {
  const { exited } = server.spawn(['setxkbmap', ...args]);
  expect(await exited).toBe(0);
}

const press = (chord: readonly string[]): DesktopAction => ({ type: 'press', chords: [chord], holdSeconds: 0 });

async function failureOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'no failure',
    (error: unknown) => String(error),
  );
}

async function keysymCount(): Promise<number> {
  const { keysyms } = await display.keyboard.mapping();
  return keysyms.filter((keysym) => keysym !== 0).length;
}

async function ownerOfClipboard(): Promise<number> {
  return await display.selections.owner(await display.atoms.of('CLIPBOARD'));
}

async function isOurs(): Promise<boolean> {
  const { resourceBase, resourceMask } = display.connection.setup;
  return (((await ownerOfClipboard()) ^ resourceBase) & ~resourceMask) === 0;
}

const typing = (text: string, usesClipboard: boolean): DesktopAction => ({ type: 'type', text, usesClipboard });

const printable = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(0x20 + index)).join('');

for (const name of ['us', 'de', 'fr']) {
  test(`DESK-1 every printable ASCII character is typed by keys with the layout ${name}`, async () => {
    await layout(name);
    await act(typing(printable, true));
    await window.shows(printable);
  });
}

test('DESK-1 text beyond ASCII is pasted, and the clipboard keeps its content', async () => {
  await act({ type: 'setClipboard', text: 'kept' }, typing('naïve 日本語 😀\tx\nzweite', true));
  await window.shows('naïve 日本語 😀\tx\nzweite');
  expect(await devices.clipboard.readText({ signal })).toBe('kept');
});

test('DESK-1 without the clipboard, every character is typed by key events', async () => {
  const text = 'naïve 日本語 😀 ÄÖÜß€ привет';
  await act(typing(text, false));
  await window.shows(text);
});

test('DESK-1 AltGr, dead keys and Caps Lock act as on a real keyboard', async () => {
  await layout('de');
  await act(press(['EuroSign']), press(['dead_circumflex']), press(['e']), press(['dead_acute']), press(['a']));
  await window.shows('€êá');
  const [euro] = window.events.filter(({ name }) => name === 'EuroSign');
  expect(euro).toMatchObject({ kind: 'key', held: ['altgr'] });
  await act(press(['Caps_Lock']), typing('aB', true), press(['Caps_Lock']));
  await window.shows('€êáaB');
});

test('DESK-1 a keyboard with two groups types both alphabets and keeps its group', async () => {
  await layout('us,ru');
  await act(typing('ab привет cd', false));
  await window.shows('ab привет cd');
  await act(press(['ctrl', 'a']), typing('x', true));
  await window.shows('x');
});

test('DESK-1 more characters than there are spare keys are typed in several rounds, and the keys are given back', async () => {
  const text = Array.from({ length: 120 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
  const before = await keysymCount();
  await act(typing(text, false));
  await window.shows(text);
  await until('the spare keys are empty again', async () => (await keysymCount()) === before);
});

test('DESK-1 keys go down in order and up in reverse order', async () => {
  await act(press(['ctrl', 'shift', 'F5']));
  await window.has('all keys are up', () => window.of(['keyup'], 'name').length === 3);
  expect(window.of(['key', 'keyup'], 'kind', 'name')).toEqual([
    { kind: 'key', name: 'Control_L' },
    { kind: 'key', name: 'Shift_L' },
    { kind: 'key', name: 'F5' },
    { kind: 'keyup', name: 'F5' },
    { kind: 'keyup', name: 'Shift_L' },
    { kind: 'keyup', name: 'Control_L' },
  ]);
});

test('DESK-1 a key stays down until it is released', async () => {
  await act({ type: 'keyDown', chord: ['shift'] }, press(['a']), { type: 'keyUp', chord: ['shift'] }, press(['a']));
  await window.shows('Aa');
});

test('DESK-1 an unknown key is refused by name', async () => {
  expect(await failureOf(act(press(['nokey'])))).toContain('key "nokey" is not known');
});

test('DESK-1 clicks arrive with their button, count, modifiers and place', async () => {
  const at = { x: window.canvas.x + 30, y: window.canvas.y + 20 };
  await act(
    { type: 'click', at, button: 'left', count: 2, holding: [] },
    { type: 'click', at: { x: null, y: at.y + 9 }, button: 'right', count: 1, holding: ['ctrl'] },
    { type: 'moveBy', by: { x: 5, y: 1 } },
    { type: 'click', at: { x: null, y: null }, button: 'middle', count: 1, holding: [] },
  );
  await window.has('the last button is up', () =>
    window.events.some(({ kind, button }) => kind === 'release' && button === 2),
  );
  expect(window.of(['press', 'double'], 'kind', 'button', 'x', 'y', 'held')).toEqual([
    { kind: 'press', button: 1, ...at, held: [] },
    { kind: 'press', button: 1, ...at, held: [] },
    { kind: 'double', button: 1, ...at, held: [] },
    { kind: 'press', button: 3, x: at.x, y: at.y + 9, held: ['ctrl'] },
    { kind: 'press', button: 2, x: at.x + 5, y: at.y + 10, held: [] },
  ]);
});

test('DESK-1 the wheel turns in all directions, by at most 100 notches', async () => {
  const at = { x: window.canvas.x + 10, y: window.canvas.y + 10 };
  await act(
    { type: 'scroll', at, dx: 0, dy: -2, holding: [] },
    { type: 'scroll', at, dx: 3, dy: 0, holding: [] },
    { type: 'scroll', at, dx: -1, dy: 500, holding: ['shift'] },
  );
  await window.has('the last notch', () => window.events.some(({ direction }) => direction === 'left'));
  const counts = Object.entries(Object.groupBy(window.of(['scroll'], 'direction'), ({ direction = '' }) => direction));
  expect(Object.fromEntries(counts.map(([direction, events]) => [direction, events?.length]))).toEqual({
    ...{ up: 2, down: 100, right: 3, left: 1 },
  });
});

test('DESK-1 a drag presses, moves in steps and releases at its end', async () => {
  const { x, y } = window.canvas;
  await act({
    type: 'drag',
    path: [
      { x: x + 10, y: y + 10 },
      { x: x + 110, y: y + 60 },
    ],
    holding: [],
  });
  await window.has('the button is up', () => window.events.some(({ kind }) => kind === 'release'));
  expect(window.of(['press', 'release'], 'kind', 'x', 'y')).toEqual([
    { kind: 'press', x: x + 10, y: y + 10 },
    { kind: 'release', x: x + 110, y: y + 60 },
  ]);
  expect(window.events.filter(({ dragging }) => dragging).length).toBeGreaterThan(3);
});

test('DESK-1 a drag whose client goes away releases the button', async () => {
  const { x, y } = window.canvas;
  const ending = new AbortController();
  const path = Array.from({ length: 100 }, (_, index) => ({ x: x + index, y: y + 10 }));
  const dragging = queue.perform({ type: 'drag', path, holding: [] }, { ...plain, signal: ending.signal });
  await window.has('the button is down', () => window.events.some(({ kind }) => kind === 'press'));
  ending.abort();
  expect(await failureOf(dragging)).toContain('Error');
  await window.has('the button is up', () => window.events.some(({ kind }) => kind === 'release'));
});

test('DESK-1 a drag whose client goes away while the button goes down releases the button', async () => {
  const ending = new AbortController();
  const { input } = display;
  /** Ends the client between the press and its confirmation by the server. */
  const button = (...[number, isDown, given]: Parameters<typeof input.button>): Promise<void> => {
    const sent = input.button(number, isDown, given);
    if (isDown) ending.abort();
    return sent;
  };
  const moveTo: typeof input.moveTo = (...given) => input.moveTo(...given);
  const pointer = new DesktopPointer({ pointer: (given) => input.pointer(given), moveTo, button }, devices.screen.size);
  const { x, y } = window.canvas;
  const path = [
    { x: x + 10, y: y + 10 },
    { x: x + 60, y: y + 10 },
  ];
  expect(await failureOf(pointer.drag(path, { signal: ending.signal }))).toContain('AbortError');
  await window.has('the button is up', () => window.events.some(({ kind }) => kind === 'release'));
});

test('DESK-1 coordinates refer to the picture that the client saw, and places outside the screen are refused', async () => {
  const half = { ...plain, coordinates: { width: 640, height: 400 } };
  await queue.perform({ type: 'move', to: { x: 320, y: 100 }, holding: [] }, half);
  const { output } = await queue.perform({ type: 'cursor' }, plain);
  expect(output).toEqual({ kind: 'cursor', position: { x: 640, y: 200 } });
  expect((await queue.perform({ type: 'cursor' }, half)).output).toMatchObject({ position: { x: 320, y: 100 } });
  expect(await failureOf(act({ type: 'move', to: { x: 1300, y: 1 }, holding: [] }))).toContain(
    'outside the screen of 1280x800',
  );
});

test('DESK-1 a batch stops at its first failure, and nothing acts in between', async () => {
  const batch = queue.batch([press(['a']), { type: 'wait', seconds: 0.2 }, press(['b']), press(['nokey'])], plain);
  const other = act(press(['c']));
  expect(await batch).toMatchObject({ performed: 3, failedIndex: 3, error: 'key "nokey" is not known' });
  await other;
  await window.shows('abc');
  const waits: DesktopAction[] = [
    { type: 'wait', seconds: 11 },
    { type: 'wait', seconds: 10 },
  ];
  expect(await failureOf(queue.batch(waits, plain))).toContain('21 s');
});

test('DESK-1 long text goes through the clipboard in parts, in both directions', async () => {
  const long = `${'漢字'.repeat(30)}\n`.repeat(1600);
  await act({ type: 'setClipboard', text: long }, press(['ctrl', 'v']));
  await window.has('the field has the text', () => window.text.length === long.length);
  await act(press(['ctrl', 'a']), press(['ctrl', 'c']));
  await until('the window owns the clipboard', async () => (await ownerOfClipboard()) !== 0 && !(await isOurs()));
  expect((await devices.clipboard.readText({ signal })) === long).toBe(true);
  await act(typing('é', true));
  await window.shows('é');
  expect((await devices.clipboard.readText({ signal })) === long).toBe(true);
});

test('DESK-1 text is pasted into a terminal, whose Control-V is not a paste', async () => {
  const file = join(server.directory, 'typed.txt');
  const shell = `read line; printf %s "$line" > ${file}.new; mv ${file}.new ${file}`;
  server.spawn(['xterm', '-u8', '-geometry', '60x8+600+300', '-e', 'sh', '-c', shell], { LANG: 'C.UTF-8' });
  const isTerminal = async (id: number) => /xterm/i.test((await display.properties.text(id, 'WM_CLASS')) ?? '');
  const terminals = async () => {
    const ids = await display.windows.children(display.root);
    const flags = await Promise.all(
      ids.map(async (id) => (await display.windows.attributes(id)).isViewable && (await isTerminal(id))),
    );
    return ids.filter((_, index) => flags[index]);
  };
  await until('the terminal is there', async () => (await terminals()).length === 1);
  const [id = 0] = await terminals();
  await display.windows.setFocus(id);
  await act(typing('日本 é\n', true));
  await until('the shell has read the line', () => existsSync(file));
  expect(readFileSync(file, 'utf8')).toBe('日本 é');
  await display.windows.setFocus(window.id);
});

test('DESK-1 pasted text that no program takes is an error, and the clipboard keeps its content', async () => {
  await act({ type: 'setClipboard', text: 'kept' });
  const empty = display.windows.create();
  await display.windows.map(empty);
  await display.windows.setFocus(empty);
  try {
    expect(await failureOf(act(typing('é', true)))).toContain('no program has taken');
  } finally {
    await display.windows.setFocus(window.id);
  }
  expect(await devices.clipboard.readText({ signal })).toBe('kept');
}, 30_000);
