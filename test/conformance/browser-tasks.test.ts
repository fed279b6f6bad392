/** Twenty tasks in a browser are completed by refs alone, through the daemon. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { TabClient } from '../harness/tab-client.ts';
import { browserTasks } from '../harness/browser-tasks.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, fixture, test } from '../harness/sandbox.ts';
import { TestSite } from '../harness/test-site.ts';

/** A directory for pictures of the finished pages. They are not kept when the variable is not set. */
const pictures = process.env['BOXKEEP_PICTURES'];

const site = new TestSite();
let browser: Chromium;

beforeAll(async () => {
  browser = await Chromium.start('--site-per-process');
});

afterAll(async () => {
  site[Symbol.dispose]();
  await browser[Symbol.asyncDispose]();
});

for (const { page, what, waitUntil = 'load', complete } of browserTasks) {
  test(
    `BROWSER-10 BROWSER-4 BROWSER-5 a page with ${what} is completed by refs`,
    async ({ sandbox }) => {
      await using tab = await TabClient.open(sandbox);
      await tab.navigate(site.page(page), { wait_until: waitUntil });
      expect(await tab.value('window.result')).toBe('open');
      await complete(tab, sandbox);
      await tab.untilDone();
      if (pictures) writeFileSync(join(pictures, `${page}.png`), new Uint8Array(await tab.screenshot()));
    },
    { env: () => ({ ...browser.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) },
  );
}

test('BROWSER-10 each page of the fixtures has a task', async () => {
  const pages = readdirSync(fixture('pages')).filter((name) => name.endsWith('.html'));
  expect(browserTasks.map(({ page }) => `${page}.html`).sort()).toEqual(pages.sort());
});
