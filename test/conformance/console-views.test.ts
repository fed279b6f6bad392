/** The views of the console that show and call what the daemon has: overview, commands, tools, routes, and the palette. */
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { expect } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const { consoleTest } = consoleTests({ width: 390, height: 800 });
const key = 'swordfish';
const hostile = `: '<img src=x onerror="document.title=1">'`;

consoleTest(
  'CONSOLE-LOAD a script of the console needs the key, runs in the page, and is not part of the home page',
  async ({ sandbox, console: { page } }) => {
    const home = await (await sandbox.fetch('GET /')).text();
    for (const view of ['editor', 'terminal']) {
      expect((await sandbox.request(`GET /console/${view}`)).status).toBe(401);
      const answer = await sandbox.fetch(`GET /console/${view}`, undefined, { headers: { 'x-api-key': key } });
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(Bun.gzipSync(await answer.arrayBuffer()).length).toBeLessThan(250_000);
    }
    expect(Bun.gzipSync(home).length).toBeLessThan(150_000);
    expect(home).toContain("style-src 'sha256-");
    expect(home).not.toContain('unsafe');
    await page.goto(`${sandbox.url}/?api_key=${key}`);
    await page.getByRole('button', { name: 'New terminal' }).click();
    await page.locator('.state', { hasText: 'attached' }).waitFor();
  },
  { env: { SVC_API_KEY: key } },
);

consoleTest(
  'CONSOLE-LOAD a script that was not built with the page does not run',
  async ({ sandbox, console: { page, refused } }) => {
    await page.route('**/console/terminal', (route) => route.fulfill({ body: 'document.title = "run"' }));
    await page.goto(`${sandbox.url}/#/terminal/any`);
    await page.getByText('another version than this page').waitFor();
    expect(await page.title()).toBe('boxkeep');
    expect(refused.splice(0)).toHaveLength(1);
  },
);

consoleTest(
  'CONSOLE-NAV the palette finds views, commands, terminals and routes with the keyboard alone',
  async ({ sandbox, console: { page } }) => {
    const id = await sandbox.start({ command: 'exec sleep 1000 #needle', mode: 'async' });
    await sandbox.ok('POST /v2/pty/sessions', { id: 'haystack' });
    await page.goto(sandbox.url);
    await page.getByRole('table').getByText('haystack').waitFor();
    for (const [typed, shown, hash] of [
      ['overv', 'Overview', '#/overview'],
      ['needle', '#needle', `#/command/${id}`],
      ['terminal hay', 'haystack', '#/terminal/haystack'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill(typed);
      await page.getByRole('option').filter({ hasText: shown }).waitFor();
      if (typed === 'overv') await expectAccessible(page);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.hash === hash);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    // The terminal has the focus, and keeps its keys.
    await page.locator('.state', { hasText: 'attached' }).waitFor();
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'Go to…' }).click();
    await page.keyboard.type('fs/stat');
    await page.getByRole('option', { name: 'files.stat' }).click();
    await page.waitForURL((url) => url.hash === '#/api/files.stat');
  },
);

consoleTest(
  'CONSOLE-OVERVIEW the overview says what the sandbox lacks, and draws what the daemon uses',
  async ({ sandbox, console: { page } }) => {
    const { capabilities } = (await sandbox.ok('GET /v2/sandbox')) as {
      capabilities: Record<string, { status: string; missing: string[] }>;
    };
    await page.goto(`${sandbox.url}/#/overview`);
    const row = page.getByRole('listitem').filter({ hasText: 'Browser' });
    await row.filter({ hasText: 'absent' }).filter({ hasText: '--remote-debugging-port' }).waitFor();
    await row.filter({ hasText: capabilities['browser']?.missing[0] ?? 'no reason' }).waitFor();
    await page.locator('figure', { hasText: /Memory [\d.]+ MiB/ }).waitFor();
    await page.locator('figure', { hasText: /Requests [\d.]+\/s/ }).waitFor();
    await expectAccessible(page);
  },
);

consoleTest('CONSOLE-NAV a page that nobody sees asks for nothing', async ({ sandbox, console }) => {
  const { page } = console;
  await page.clock.install();
  let requests = 0;
  page.on('request', () => (requests += 1));
  await page.goto(`${sandbox.url}/#/overview`);
  await page.locator('figure', { hasText: /Memory [\d.]+ MiB/ }).waitFor();
  const shown = requests;
  await page.clock.runFor(10_000);
  await until('the page asks while it is seen', () => requests > shown);

  await console.showToPerson(false);
  await page.clock.runFor(10_000); // What was on its way is answered.
  await page.waitForLoadState('networkidle');
  const hidden = requests;
  await page.clock.runFor(60_000);
  expect(requests).toBe(hidden);
  await console.showToPerson(true);
  await until('the page asks again', () => requests > hidden);
});

consoleTest(
  'CONSOLE-COMMANDS the commands are listed, filtered, started, fed and given as programs',
  async ({ sandbox, console: { page } }) => {
    await sandbox.run({ command: hostile });
    await page.goto(`${sandbox.url}/#/commands`);
    await page.getByLabel('New command').fill('read line; echo "<b>got</b> $line"; cat');
    await page.keyboard.press('Enter');
    await page.getByLabel('Standard input').fill('a line');
    await page.keyboard.press('Enter');
    await page.locator('.output', { hasText: '<b>got</b> a line' }).waitFor();
    await page.getByText('From a program').click();
    await expectAccessible(page);
    for (const text of ['curl -s -X POST', 'await Sandbox.connect', 'import os']) await page.getByText(text).waitFor();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText('ended with 0').waitFor();

    await page.getByRole('link', { name: 'All commands' }).click();
    await page.getByRole('listitem').filter({ hasText: hostile }).waitFor();
    await page.getByLabel('Filter').fill('GOT line');
    await page.getByText('1 of 2').waitFor();
    await page.getByLabel('Status').selectOption('running');
    await page.getByText('None.').waitFor();
    await page.getByLabel('Filter').fill('');
    await page.getByLabel('Status').selectOption('all');
    await page.getByText('2 of 2').waitFor();
    await expectAccessible(page);
    expect(await page.locator('img').count()).toBe(0);

    const id = await sandbox.start({ command: 'sleep 600' });
    await page.getByRole('link', { name: 'sleep 600' }).focus();
    await sandbox.ok(`POST /v2/commands/${id}/kill`, {});
    await page.getByRole('listitem').filter({ hasText: 'sleep 600' }).filter({ hasText: 'killed' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'All commands' }).waitFor();
  },
);

consoleTest(
  'CONSOLE-MCP a tool has a form made from its schema, and its answer is shown',
  async ({ sandbox, console: { page } }) => {
    await page.goto(`${sandbox.url}/#/mcp`);
    await page.getByRole('link', { name: 'sandbox_execute_bash' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'sandbox_execute_bash' }).click();
    await page.getByLabel('cmd (required)').fill(`echo sum-$((40 + 2)) '<b>x</b>'`);
    await page.getByLabel('timeout').fill('soon');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('timeout is not a JSON number: soon').waitFor();
    await page.getByLabel('timeout').fill('20');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.locator('.answer pre', { hasText: 'sum-42 <b>x</b>' }).first().waitFor();
    await expectAccessible(page);
  },
);

consoleTest(
  'CONSOLE-API every route is listed, and a form calls it or gives the command line of curl',
  async ({ sandbox, console: { page } }) => {
    const path = join(sandbox.directory, "it's.txt");
    await page.goto(`${sandbox.url}/#/api`);
    await page.getByLabel('Search').fill('post WRITE');
    await page.getByRole('link', { name: 'POST /v2/fs/write' }).click();
    await page.getByLabel('path (required)').fill(path);
    await page.getByLabel('content (required)').fill("line 1\nit's line 2\n");
    await page.getByRole('button', { name: 'As curl' }).click();
    const command = await page.locator('pre', { hasText: 'curl -s' }).innerText();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer pre', { hasText: '"bytes_written": 19' }).waitFor();
    expect(readFileSync(path, 'utf8')).toBe("line 1\nit's line 2\n");

    await sandbox.ok('POST /v2/fs/delete', { path });
    expect((await sandbox.run({ command, env: { SVC_API_KEY: 'unused' } }))['exit_code']).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe("line 1\nit's line 2\n");

    await page.goto(`${sandbox.url}/#/api/files.read`);
    await page.getByLabel('path (required)').fill('/nothing/here');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer', { hasText: 'file_not_found' }).waitFor();
    await page.goto(`${sandbox.url}/#/api/commands.nothing`);
    await page.getByText('This daemon has no operation commands.nothing.').waitFor();
  },
);
