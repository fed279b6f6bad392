/** A terminal in the console on a phone and for a person who only watches: keys, search, size of the text, read-only. */
import type { Page } from 'playwright-core';
import { expectAccessible } from '../harness/accessibility.ts';
import { ConsolePage, consoleTests } from '../harness/console-page.ts';
import { expect, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const { consoleTest, open } = consoleTests({ width: 390, height: 700 });
const id = 'shared';

async function openTerminal(sandbox: Sandbox, console: ConsolePage): Promise<void> {
  await sandbox.ok('POST /v2/pty/sessions', { id });
  await console.page.goto(`${sandbox.url}/#/terminal/${id}`);
  await console.untilState('attached');
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const columnsOf = async (sandbox: Sandbox) => (await sandbox.ok(`GET /v2/pty/sessions/${id}`))['cols'] as number;

consoleTest(
  'CONSOLE-TERMINAL a phone has Esc, Tab, arrows and a Ctrl for the next key, and the terminal keeps the focus',
  async ({ sandbox, console }) => {
    const { page } = console;
    await openTerminal(sandbox, console);
    await console.type('echo be""gun; cat');
    await console.untilScreen(/^begun$/m);
    for (const name of ['Esc', 'Up', 'Left']) await press(page, name);
    await page.keyboard.type('typed');
    await console.untilScreen(/^\^\[\^\[\[A\^\[\[Dtyped$/m);
    await expectAccessible(page);
    await press(page, 'Ctrl');
    expect(await page.getByRole('button', { name: 'Ctrl' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.type('c');
    await console.untilScreen(/\^C\n[^]*[$#]$/); // The kernel drops what is typed before the shell is back.
    await console.type('echo still-$((40 + 2))'); // The c of echo is a letter again.
    await console.untilScreen(/^still-42$/m);
    await page.keyboard.type('echo $SHEL');
    await press(page, 'Tab');
    await console.untilScreen(/echo \$SHELL/);
    await page.setViewportSize({ width: 900, height: 500 });
    await page.getByRole('toolbar', { name: 'Keys' }).waitFor({ state: 'hidden' });
  },
);

consoleTest(
  'CONSOLE-TERMINAL a text in the scrollback is found with the keyboard, the newest first',
  async ({ sandbox, console }) => {
    const { page } = console;
    await openTerminal(sandbox, console);
    await console.type('seq -f "row %g!" 1 500; echo all-o""f-it');
    await console.untilScreen(/^all-of-it$/m);
    await page.keyboard.press('Control+Shift+F');
    await page.keyboard.type('row 13');
    await page.getByRole('status').filter({ hasText: '11 of 11' }).waitFor();
    await console.untilScreen(/^row 139!$/m);
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: '10 of 11' }).waitFor();
    await page.keyboard.press('Shift+Enter');
    await page.getByRole('status').filter({ hasText: '11 of 11' }).waitFor();
    await page.getByLabel('Search the terminal').fill('nothing like this');
    await page.getByText('not found').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await console.type('echo back-$((40 + 2))');
    await console.untilScreen(/^back-42$/m);
  },
);

consoleTest('CONSOLE-TERMINAL text in one of 16 million colours has its colour', async ({ sandbox, console }) => {
  await openTerminal(sandbox, console);
  await console.type(String.raw`printf '\033[38;2;18;200;90mgre""en\n'; printf '\033[0m'`);
  const colour = `[...document.querySelectorAll('.xterm-rows span')].map((span) => getComputedStyle(span).color)`;
  await until('the colour is drawn', async () =>
    (await console.page.evaluate<string[]>(colour)).includes('rgb(18, 200, 90)'),
  );
});

consoleTest('CONSOLE-TERMINAL the tab keeps the size of the text', async ({ sandbox, console }) => {
  const { page } = console;
  await openTerminal(sandbox, console);
  const before = await columnsOf(sandbox);
  for (let step = 0; step < 4; step++) await press(page, 'Text +');
  await until('fewer columns fit', async () => (await columnsOf(sandbox)) < before);
  const larger = await columnsOf(sandbox);
  await page.reload();
  await console.untilState('attached');
  await console.type('echo re""ady');
  await console.untilScreen(/^ready$/m);
  expect(await columnsOf(sandbox)).toBe(larger);
});

consoleTest(
  'CONSOLE-TERMINAL a person who watches sees everything, types nothing and leaves the size as it is',
  async ({ sandbox, console }) => {
    const { page } = console;
    await page.setViewportSize({ width: 900, height: 500 });
    await openTerminal(sandbox, console);
    const line = 'x'.repeat(90);
    await console.type(`printf 'x%.0s' $(seq 90); echo; cat`);
    await console.untilScreen(new RegExp(`^${line}$`, 'm'));
    const columns = await columnsOf(sandbox);
    expect(columns).toBeGreaterThan(90);

    await using other = await open();
    const watcher = new ConsolePage(other.page);
    await other.page.setViewportSize({ width: 390, height: 700 });
    await other.page.goto(page.url());
    // Who has not typed yet leaves the size to the other, also after a change of the window.
    await watcher.untilState('attached');
    await watcher.untilScreen(new RegExp(`^${line}$`, 'm'));
    await other.page.setViewportSize({ width: 390, height: 600 });
    await other.page.getByRole('link', { name: 'Watch only' }).click();
    await watcher.untilState('watching');
    await watcher.untilScreen(new RegExp(`^${line}$`, 'm'));
    await other.page.reload();
    await watcher.untilState('watching');
    await other.page.locator('.screen').click();
    await watcher.type('from-the-watcher');
    await press(other.page, 'Text −');
    await console.type('from-the-person');
    await watcher.untilScreen(/^from-the-person$/m);
    expect(await watcher.screen()).not.toContain('from-the-watcher');
    expect(await columnsOf(sandbox)).toBe(columns);
    expect(await other.page.getByRole('toolbar').count()).toBe(0);
    await expectAccessible(other.page);
    await other.page.getByRole('link', { name: 'Type here' }).click();
    await watcher.untilState('attached');
    expect([...other.errors, ...watcher.refused]).toEqual([]);
  },
);
