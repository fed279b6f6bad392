/** What the console shows of the work of others: the feed of activity, and a command with its live output. */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { expect } from '../harness/sandbox.ts';
import type { Page } from 'playwright-core';

const { consoleTest } = consoleTests({ width: 390, height: 700 });

/** Nothing is wider than the window of a phone. */
async function expectNarrow(page: Page): Promise<void> {
  const root = 'document.documentElement';
  expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
}

const hostile = `: '<img src=x onerror="document.title=1">'`;

consoleTest(
  'CONSOLE-ACTIVITY the page shows what happens, as it happens, and filters it',
  async ({ sandbox, console: { page } }) => {
    await page.goto(sandbox.url);
    await page.getByText('Nothing yet.').waitFor();
    await sandbox.run({ command: hostile });
    await sandbox.ok('POST /v2/fs/write', { path: join(sandbox.directory, 'note.txt'), content: 'x' });
    await page.getByRole('listitem').filter({ hasText: hostile }).filter({ hasText: 'exit 0' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'files.write' }).filter({ hasText: 'note.txt' }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(2);
    await expectAccessible(page);

    await page.getByRole('link', { name: 'All activity' }).click();
    await page.getByPlaceholder('Filter').fill('NOTE');
    await page.getByRole('listitem').filter({ hasText: hostile }).waitFor({ state: 'hidden' });
    await page.getByRole('listitem').filter({ hasText: 'note.txt' }).waitFor();
    await expectAccessible(page);
  },
);

consoleTest(
  'CONSOLE-COMMAND a command shows its output live, over the death of the daemon, and can be killed',
  async ({ sandbox, console: { page } }) => {
    const go = join(sandbox.directory, 'go');
    const command = `echo begun; until [ -e ${go} ]; do sleep 0.02; done; echo '<b>went</b>' >&2; exec sleep 1000`;
    const id = await sandbox.start({ command, mode: 'async' });
    await page.goto(`${sandbox.url}/#/activity`);
    await page.getByRole('link', { name: 'echo begun' }).click();
    await page.locator('.output', { hasText: 'begun' }).waitFor();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    writeFileSync(go, '');
    await page.locator('.stderr', { hasText: '<b>went</b>' }).waitFor();
    expect(await page.locator('.output').innerText()).toBe('begun\n<b>went</b>\n');

    await expectNarrow(page);
    await page.getByRole('button', { name: 'Kill', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill command' }).click();
    await page.getByText('killed (143)').waitFor();
    expect((await sandbox.ended(id))['status']).toBe('killed');

    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => url.hash.startsWith('#/command/') && !url.hash.endsWith(id));
    await page.locator('.output', { hasText: 'begun' }).waitFor();
    const { commands } = (await sandbox.ok('GET /v2/commands?status=running')) as { commands: { command: string }[] };
    expect(commands.map((running) => running.command)).toEqual([command]);
  },
  { expectedWarnings: ['started again by init'] },
);
