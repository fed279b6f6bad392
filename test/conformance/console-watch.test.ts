/** Changes of files in the console, as they happen. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { expect, type Json, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const { consoleTest } = consoleTests({ width: 390, height: 800 });
const hostileName = '<img src=x onerror="document.title=1">.txt';
const watchersOf = async (sandbox: Sandbox) => (await sandbox.ok('GET /v2/watch')) as unknown as Json[];

consoleTest(
  'CONSOLE-WATCH changes below a directory are shown live as text, are filtered, and lead to the file',
  async ({ sandbox, console: { page } }) => {
    const root = join(sandbox.directory, 'project');
    mkdirSync(join(root, 'src'), { recursive: true });
    await page.goto(`${sandbox.url}/#/files/${root}`);
    await page.locator('header').getByRole('link', { name: 'Changes' }).click();
    await page.getByText('Watching.').waitFor();
    const row = (...texts: string[]) =>
      texts.reduce((rows, hasText) => rows.filter({ hasText }), page.locator('.activity li'));
    writeFileSync(join(root, 'src', hostileName), 'x'.repeat(2048));
    await row(`src/${hostileName}`, 'created', '2.0 KiB').waitFor();
    renameSync(join(root, 'src', hostileName), join(root, 'plain.txt'));
    await row('plain.txt', `from ${join(root, 'src', hostileName)}`, 'renamed').waitFor();
    await page.getByLabel('Filter').fill('CREATED');
    await row('renamed').waitFor({ state: 'hidden' });
    await page.getByLabel('Filter').fill('');
    await row('renamed').waitFor();
    await expectAccessible(page);
    expect(await page.locator('img').count()).toBe(0);
    await page.getByRole('link', { name: 'plain.txt' }).click();
    await page.locator('.cm-content', { hasText: 'xxx' }).waitFor();
    await until('the watcher is released', async () => (await watchersOf(sandbox)).length === 0);
  },
);

consoleTest(
  'CONSOLE-WATCH the page goes on over the death of the daemon, says what may be missing, and releases its watcher',
  async ({ sandbox, console: { page } }) => {
    const root = join(sandbox.directory, 'project');
    mkdirSync(root);
    await page.goto(`${sandbox.url}/#/watch/${root}`);
    await page.getByText('Watching.').waitFor();
    writeFileSync(join(root, 'before'), '');
    await page.getByRole('link', { name: 'before' }).waitFor();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await page.getByRole('listitem').filter({ hasText: 'Changes may be missing here' }).waitFor();
    await page.getByText('Watching.').waitFor();
    writeFileSync(join(root, 'after'), '');
    await page.getByRole('link', { name: 'after' }).waitFor();
    expect(await page.getByRole('link', { name: 'before' }).count()).toBe(1);
    await expectAccessible(page);
    await page.reload();
    await page.getByText('Watching.').waitFor();
    expect((await watchersOf(sandbox)).map((watcher) => (watcher as { path: string }).path)).toEqual([root]);
    await page.goto('about:blank');
    await until('the watcher is released', async () => (await watchersOf(sandbox)).length === 0);
    await page.goto(`${sandbox.url}/#/watch/${root}`);
    await page.getByText('Watching.').waitFor();
    rmSync(root, { recursive: true });
    await page.getByText(`${root} is gone.`).waitFor();
    await page.reload();
    await page.locator('.wrong', { hasText: root }).waitFor();
  },
  { expectedWarnings: ['started again by init'] },
);

consoleTest(
  'CONSOLE-WATCH CONSOLE-NAV a hidden page sends no requests, and shows the changes when it is seen again',
  async ({ sandbox, console }) => {
    const { page } = console;
    const root = join(sandbox.directory, 'project');
    mkdirSync(root);
    let polls = 0;
    page.on('request', (request) => (polls += Number(request.url().includes('/poll'))));
    await page.goto(`${sandbox.url}/#/watch/${root}`);
    await page.getByText('Watching.').waitFor();
    await until('the page asks', () => polls === 1);
    await console.showToPerson(false);
    writeFileSync(join(root, 'first'), ''); // Answers the request that is on its way.
    await page.getByRole('link', { name: 'first' }).waitFor();
    writeFileSync(join(root, 'second'), '');
    await until('the daemon has both changes', async () => {
      const [watcher] = (await watchersOf(sandbox)) as { event_count: number }[];
      return watcher?.event_count === 2;
    });
    expect(polls).toBe(1);
    await console.showToPerson(true);
    await page.getByRole('link', { name: 'second' }).waitFor();
    expect(await page.getByText('may be missing').count()).toBe(0);
  },
);
