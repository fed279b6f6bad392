/** What a client can rely on when an agent-browser CLI serves snapshots and the actions on their refs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { ActionClient, pageHandlers } from '../harness/action-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { within } from '../harness/fair-clock.ts';

import { expect, test, type Json } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';

const version = '0.27.0';

let chromium: Chromium;
let site: Site;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-agent-browser-'));
  const install = ['npm', 'install', '--ignore-scripts', '--prefix', directory, `agent-browser@${version}`];
  const npm = Bun.spawn(install, { stdout: 'ignore', stderr: 'pipe' });
  if ((await npm.exited) !== 0) throw new Error(await new Response(npm.stderr).text());
  chromium = await Chromium.start();
  site = startSite(pageHandlers);
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
  rmSync(directory, { recursive: true, force: true });
});

const processor = process.arch === 'arm64' ? 'arm64' : 'x64';
const cli = () => join(directory, `node_modules/agent-browser/bin/agent-browser-linux-${processor}`);
const options = (program: () => string) => ({
  env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1', SVC_AGENT_BROWSER_BIN: program() }),
});

function find({ role, name, ref, children }: Json, wanted: string): string | null {
  if (name === wanted && ref !== null) return ref;
  for (const child of children) {
    const found = find(child, wanted);
    if (found !== null) return found;
  }
  return role === 'document' ? `no ref for ${wanted}` : null;
}

test(
  'IMG-23 snapshots and the actions on their refs are those of the CLI',
  async ({ sandbox }) => {
    const client = new ActionClient(sandbox, '/v2', site);
    const file = join(sandbox.directory, 'a.txt');
    writeFileSync(file, 'hello');
    await client.open(
      '<label>Name <input id=n></label><input type=checkbox aria-label=Box id=c><input type=file aria-label=File id=f><button onclick="document.title=n.value">Go</button>',
    );
    const tree = await client.act('snapshot', { interactive_only: true });
    expect(tree).toMatchObject({ role: 'document' });
    const text = 'it\'s "text"\nof $HOME';
    await client.act('fill', { ref: find(tree, 'Name'), value: text.replace('\n', ' ') });
    await client.act('fill', { ref: find(tree, 'Box'), value: true });
    await client.act('upload', { ref: find(tree, 'File'), paths: [file] });
    expect(await client.act('click', { ref: find(tree, 'Go') })).toMatchObject({ title: text.replace('\n', ' ') });
    expect(await client.value('[c.checked, f.files[0].name]')).toEqual([true, 'a.txt']);
    expect(String(await client.act('snapshot', { format: 'text' }))).toContain('button "Go"');
    await client.value('document.querySelector("button").textContent = "Other"');
    expect((await client.refusal('click', { ref: find(tree, 'Go') })).status).toBe(409);
    expect((await client.refusal('click', { ref: 'e99' })).status).toBe(409);
    expect((await client.refusal('snapshot', { find: { name: 'Go' } })).status).toBe(400);
    expect(await client.act('click', { selector: 'button' })).toMatchObject({ tab_id: expect.any(String) });
  },
  options(cli),
);

test(
  'IMG-23 a CLI that is missing or fails is 503 with its reason, and one that hangs is 504',
  async ({ sandbox }) => {
    const client = new ActionClient(sandbox, '/v2', site);
    const failing = join(directory, 'failing');
    const missing = await client.refusal('snapshot', {});
    expect([missing.status, missing.body.message]).toEqual([503, expect.stringContaining('not found')]);
    expect(missing.body.hint).toContain(failing);
    writeFileSync(failing, '#!/bin/sh\necho "it is broken" >&2; exit 1', { mode: 0o755 });
    const broken = await client.refusal('snapshot', {});
    expect([broken.status, broken.body.message]).toEqual([503, expect.stringContaining('it is broken')]);
    writeFileSync(failing, '#!/bin/sh\nexec sleep 60', { mode: 0o755 });
    expect((await client.refusal('snapshot', { timeout: 1 })).status).toBe(504);
    const hanging = client.refusal('snapshot', { timeout: 200 });
    await sandbox.request('POST /v2/browser/cdp', { method: 'Page.crash', timeout: 20 });
    const crashed = await within('the end of the call', hanging, 10_000);
    expect([crashed.status, crashed.body.message]).toEqual([503, expect.stringContaining('has crashed')]);
  },
  options(() => join(directory, 'failing')),
);
