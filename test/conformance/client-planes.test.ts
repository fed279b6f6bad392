/** The browser, the desktop and MCP through the clients of this repository. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { clientsWith, key, needClients, removeClients, shownBy } from '../harness/own-clients.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';

let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;
const form = '<label>Name <input id=n></label><button onclick="document.title = `Hello ${n.value}`">Send</button>';
const site = startSite({
  '/form': () => new Response(`<!doctype html>${form}`, { headers: { 'content-type': 'text/html' } }),
});

beforeAll(async () => {
  await needClients();
  chromium = await Chromium.start();
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  site.stop();
  removeClients();
});

for (const client of clientsWith('planes'))
  test(
    `CLIENT-PLANES the browser, the desktop and the tools of MCP (${client.name})`,
    async ({ sandbox }) => {
      expect(await shownBy(client, 'planes', sandbox, site.url('/form'))).toEqual({
        snapshot: true,
        clicked: 'Hello Ada',
        closed: true,
        picture: ['image/jpeg', true, [0xff, 0xd8]],
        unchanged: [0, true],
        stale: [false, 'ref_malformed'],
        screen: ['image/png', 1280, 800, [...Buffer.from('PNG')]],
        acted: [true, 20],
        batch: 2,
        tools: true,
        tool: true,
        'no tool': [false, 'tool_not_found', null],
      });
    },
    {
      env: () => ({ SVC_API_KEY: key, SVC_BROWSER_IDLE_SECONDS: '1', ...chromium.environment, ...worker.environment }),
    },
  );
