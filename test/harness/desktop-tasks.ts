/** Fifteen tasks on a desktop with real programs, each with a check of its effect. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Place } from './gtk-log.ts';
import { expect } from './sandbox.ts';
import { centre, type DesktopUser } from './task-desktop.ts';
import { until } from './until.ts';

export interface DesktopTask {
  /** The rest of a test title. */
  readonly what: string;
  complete(user: DesktopUser): Promise<void>;
}

/** The first line of a text field, whose place is that of the field. */
const firstLine = { x: 60, y: 10 };

async function contains(path: string, text: string): Promise<void> {
  const content = () => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  await until(`${path} contains ${JSON.stringify(text)}`, () => content() === text);
}

async function copy(user: DesktopUser, text: string, gesture: () => Promise<void>): Promise<void> {
  const isDone = async () => (await user.desktop.clipboard()) === text;
  await user.repeat(`${JSON.stringify(text)} is copied`, { gesture, isDone });
}

async function choose(user: DesktopUser, place: Place, item: string): Promise<void> {
  await user.repeat(`the menu with ${item} is open`, {
    gesture: () => user.click(place, { button: 'right' }),
    isDone: async () => (await user.look('menu item', item)) !== undefined,
  });
  await user.clickNode('menu item', item);
}

async function check(user: DesktopUser, role: string, name: string): Promise<void> {
  await user.repeat(`${name} is checked`, {
    gesture: () => user.clickNode(role, name),
    isDone: async () => (await user.look(role, name, 'checked')) !== undefined,
  });
}

/** Prints a word, and creates a file when the terminal has shown the word, because it then answers where its cursor is. */
const showWord = "echo lighthouse; read -rsd R -p $'\\e[6n'; touch shown; exec sleep 1000";

export const desktopTasks: readonly DesktopTask[] = [
  {
    what: 'a file is opened through the menu of an editor',
    async complete(user) {
      const path = user.path('letter.txt');
      writeFileSync(path, 'Dear Ada,\n');
      await user.openEditor('another letter\n');
      await user.clickNode('menu', 'File');
      await user.clickNode('menu item', 'Open...');
      await user.click(await user.place('table cell', 'letter.txt'), { isDouble: true });
      await user.desktop.window(/letter\.txt/);
      await user.press('ctrl', 'End');
      await user.type('see you on Monday\n');
      await user.press('ctrl', 's');
      await contains(path, 'Dear Ada,\nsee you on Monday\n');
    },
  },
  {
    what: 'a text is written and saved under a name',
    async complete(user) {
      const path = user.path('greeting.txt');
      await user.openEditor();
      await user.type('Grüße aus 東京 👋\nzwei\n');
      await user.press('ctrl', 'shift', 's');
      await user.place('button', 'Save');
      await user.press('ctrl', 'a');
      await user.type('greeting.txt');
      await user.repeat('the dialog has closed', {
        gesture: () => user.clickNode('button', 'Save'),
        isDone: async () => (await user.look('button', 'Save')) === undefined,
      });
      await contains(path, 'Grüße aus 東京 👋\nzwei\n');
    },
  },
  {
    what: 'a word is selected with a double click and copied',
    async complete(user) {
      const { x, y } = await user.openEditor('Lighthouse keeper\n');
      await user.click({ x: x + firstLine.x, y: y + firstLine.y }, { isDouble: true });
      await copy(user, 'Lighthouse', () => user.press('ctrl', 'c'));
    },
  },
  {
    what: 'a word of a terminal is copied into a text field',
    async complete(user) {
      const { bounds } = await user.openTerminal('Source', showWord);
      await until('the terminal shows the word', () => existsSync(user.path('shown')));
      const window = await user.openEventWindow('Target');
      await user.click({ x: bounds.x + 40, y: bounds.y + 30 }, { isDouble: true });
      await until('the word is copied', async () => (await user.desktop.clipboard()) === 'lighthouse');
      await user.click(window.field);
      await user.active('Target');
      await user.press('ctrl', 'v');
      await window.shows('lighthouse');
    },
  },
  {
    what: 'a form is filled in and sent',
    async complete(user) {
      await user.openPage('form');
      await user.clickNode('entry', 'Name');
      await user.place('entry', 'Name', 'focused');
      await user.type('Ada Łovelace\t12 Straße\t');
      await user.type('first line\nsecond line 😀');
      await user.clickNode('combo box', 'Size');
      await user.clickNode('menu item', 'Large');
      await check(user, 'check box', 'Gift');
      await check(user, 'radio button', 'Card');
      await user.clickNode('button', 'Send');
      expect(await user.desktop.result()).toEqual({
        ...{ name: 'Ada Łovelace', city: '12 Straße', note: 'first line\nsecond line 😀' },
        ...{ size: 'Large', gift: 'yes', pay: 'card' },
      });
    },
  },
  {
    what: 'a file is dragged from one program to another',
    async complete(user) {
      const path = user.path('report.txt');
      writeFileSync(path, 'all quiet');
      await user.openPage('drop');
      const zone = await user.place('button', 'Drop a file here');
      const window = await user.openEventWindow('Files', path);
      await user.repeat('the file has arrived', {
        gesture: () => user.drag(centre(window.files[0]!), centre(zone)),
        isDone: () => user.desktop.hasResult(),
      });
      expect(await user.desktop.result()).toEqual({ name: 'report.txt', text: 'all quiet' });
      await window.has('the drag has ended', () => window.of(['dragend'], 'kind').length > 0);
    },
  },
  {
    what: 'a window is resized by its corner',
    async complete(user) {
      const window = await user.openEventWindow('Corner');
      const { width: before } = window.canvas;
      const { bounds } = await user.desktop.window('Corner');
      const corner = { x: bounds.x + bounds.width - 2, y: bounds.y + bounds.height - 2 };
      await user.drag(corner, { x: corner.x - 120, y: corner.y + 80 });
      const isResized = async () => {
        const now = (await user.desktop.window('Corner')).bounds;
        return Math.abs(now.width - bounds.width + 120) < 10 && Math.abs(now.height - bounds.height - 80) < 10;
      };
      await until('the window has its new size', isResized);
      await window.has('the program has its new size', () =>
        window.of(['size'], 'width').some(({ width = 0 }) => Math.abs(width - before + 120) < 10),
      );
    },
  },
  {
    what: 'a window is moved by its title bar',
    async complete(user) {
      await user.openEventWindow('Mover');
      const { x, y, width, height } = (await user.desktop.window('Mover')).bounds;
      const from = { x: x + (width >> 1), y: y + 8 };
      await user.drag(from, { x: from.x - 200, y: from.y + 150 });
      await until('the window has its new place', async () => {
        const { bounds: now } = await user.desktop.window('Mover');
        return now.x === x - 200 && now.y === y + 150 && now.width === width && now.height === height;
      });
    },
  },
  {
    what: 'a command that hangs is interrupted in a terminal, and another runs',
    async complete(user) {
      await user.openTerminal('Shell', 'exec sh');
      await user.type("sh -c 'touch started; exec sleep 1000'\n");
      await until('the command runs', () => existsSync(user.path('started')));
      await user.press('ctrl', 'c');
      await user.type("echo 'naïve \\$x' > typed.txt\n");
      await contains(user.path('typed.txt'), 'naïve \\$x\n');
    },
  },
  {
    what: 'a page is scrolled to its last button',
    async complete(user) {
      await user.openPage('list');
      const { x, y } = centre(await user.place('button', 'Station 2'));
      const isThere = async () => (await user.look('button', 'Station 60')) !== undefined;
      while (!(await isThere())) await user.scroll({ x, y }, 30);
      await user.clickNode('button', 'Station 60');
      expect(await user.desktop.result()).toEqual({ chosen: 'Station 60' });
    },
  },
  {
    what: 'a text is selected and copied through a context menu',
    async complete(user) {
      const place = await user.openEditor('first line\nsecond line\n');
      await choose(user, place, 'Select All');
      await copy(user, 'first line\nsecond line\n', () => choose(user, place, 'Copy'));
    },
  },
  {
    what: 'a line is drawn on a canvas',
    async complete(user) {
      const window = await user.openEventWindow('Drawing');
      const { x, y } = window.canvas;
      window.clear();
      const [from, to] = [
        { x: x + 20, y: y + 30 },
        { x: x + 180, y: y + 110 },
      ];
      await user.drag(from, to);
      await window.has('the button is up', () => window.events.some(({ kind }) => kind === 'release'));
      expect(window.of(['press', 'release'], 'kind', 'button', 'x', 'y')).toEqual([
        { kind: 'press', button: 1, ...from },
        { kind: 'release', button: 1, ...to },
      ]);
      const drawn = window.events.filter(({ dragging }) => dragging);
      expect(drawn.at(-1)).toMatchObject(to);
      expect(drawn.length).toBeGreaterThan(3);
    },
  },
  {
    what: 'an editor with changes is closed without saving them',
    async complete(user) {
      await user.openEditor('as it was\n');
      await user.type('changed ');
      await user.press('alt', 'F4');
      await user.clickNode('button', "Don't Save");
      await user.closed();
      await contains(user.path('text.txt'), 'as it was\n');
    },
  },
  {
    what: 'the keyboard goes to the window that is clicked',
    async complete(user) {
      const first = await user.openEventWindow('First');
      const second = await user.openEventWindow('Second');
      await user.type('to the second');
      await second.shows('to the second');
      const { bounds } = await user.desktop.window('First');
      await user.click({ x: bounds.x + (bounds.width >> 1), y: bounds.y + 8 });
      await user.active('First');
      await user.type('to the first');
      await first.shows('to the first');
      expect(second.text).toBe('to the second');
    },
  },
  {
    what: 'a slider is moved to its middle',
    async complete(user) {
      await user.openPage('slider');
      const { x, y, width, height } = await user.place('slider', 'Volume');
      const middle = y + (height >> 1);
      await user.drag({ x: x + 8, y: middle }, { x: x + (width >> 1), y: middle });
      const { volume } = await user.desktop.result();
      expect(Math.abs(volume - 50)).toBeLessThan(4);
    },
  },
];
