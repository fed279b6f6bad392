/** Every client at once beside a daemon that is killed every three seconds. `npm run soak -- kills` takes 30 minutes. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import type * as Client from '../../clients/typescript/src/index.ts';
import { TestBrowser } from '../harness/browser.ts';
import { showFigures } from '../harness/figures.ts';
import { bundle, clientsWith, key, needClients, removeClients, shownBy } from '../harness/own-clients.ts';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { doneTwice, whileKilled } from '../harness/while-killed.ts';

const seconds = Number(process.env['BOXKEEP_KILL_SECONDS'] ?? 12);
const killEveryMs = 3000;
const tasks = ['run', 'output', 'input', 'file', 'terminal'];

/** Turns of each task. */
type Done = Readonly<Record<string, number>>;

beforeAll(needClients);
afterAll(removeClients);

/** Serves a page that can load the client. */
const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/': new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
    '/boxkeep.mjs': () => new Response(Bun.file(bundle)),
    '/loops.mjs': new Response(Bun.file(join(repositoryRoot, 'test/clients/typescript/kills-loops.mjs'))),
  },
});
afterAll(() => site.stop(true));

test(
  'CLIENT-KILLS beside kills of the daemon, clients in every runtime lose nothing, and nothing is done twice',
  async ({ sandbox }) => {
    const programs = clientsWith('kills').map((client) => ({
      name: client.name,
      run: async (place: string) =>
        ((await shownBy(client, 'kills', sandbox, place, String(seconds))) as { readonly done: Done }).done,
    }));
    const page = { name: 'Chromium', run: (place: string) => inPage(sandbox, join(sandbox.directory, place)) };
    const all = [...programs, page].map(async ({ name, run }) => {
      const place = name.replaceAll(/\W+/g, '-');
      mkdirSync(join(sandbox.directory, place));
      const done = await run(place);
      for (const task of tasks) expect([name, task, done[task]]).toEqual([name, task, expect.any(Number)]);
      expect(doneTwice(join(sandbox.directory, place))).toEqual([]);
      console.log(name, JSON.stringify(done));
      showFigures({ clients: 1, tasks: Object.values(done).reduce((sum, turns) => sum + turns, 0) });
    });
    // The others go on when one has failed.
    const [, kills] = await whileKilled(sandbox, () => Promise.allSettled(all), killEveryMs);
    await Promise.all(all);
    showFigures({ kills });
    expect(kills).toBeGreaterThanOrEqual(Math.floor(seconds / 6));
  },
  {
    env: { SVC_API_KEY: key, SVC_CORS_ORIGINS: `http://127.0.0.1:${site.port}` },
    expectedWarnings: ['started again by init'],
    timeoutMs: (seconds + 60) * 1000,
  },
);

async function inPage({ url }: Sandbox, directory: string): Promise<Done> {
  await using browser = await TestBrowser.launch();
  await using opened = await browser.open();
  await opened.page.goto(site.url.href);
  return await opened.page.evaluate(
    async ({ url, key, directory, seconds }) => {
      const load = async (path: string) => (await import(path)) as Record<string, (...of: unknown[]) => unknown>;
      const { Sandbox } = (await load('/boxkeep.mjs')) as unknown as typeof Client;
      const { loops } = await load('/loops.mjs');
      return (await loops!(await Sandbox.connect(url, key, { retryMs: 30_000 }), directory, seconds)) as Done;
    },
    { url, key, directory, seconds },
  );
}
