/** The parts of a snapshot that a client asks for: budgets, levels, changes, matches and waits. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Json } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { SnapshotClient, nodeOf, nodesOf, withoutRefs, type SnapshotNode } from '../harness/snapshot-client.ts';

let chromium: Chromium;
let site: Site;

const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } });

const pages = {
  '/shop': () =>
    html(`<title>Shop “é”</title><nav aria-label=Menu><ul>${'<li><a href=#>Link</a>'.repeat(60)}</ul></nav><main>
      ${Array.from({ length: 80 }, (_, i) => `<article><h2>Tea ${i} “☕”</h2><p>Line\t"${i}"</p><button>Buy ${i}</button></article>`).join('')}
      </main>`),
  '/list': () =>
    html('<title>List</title><main><ul><li>One<li>Two</ul><input aria-label=Field><p>Status: idle</p></main>'),
  '/late': () =>
    html(`<title>Late</title><p id=gone>Loading</p><script>setTimeout(() => {
      gone.remove();
      document.body.insertAdjacentHTML('beforeend', '<button>Ready</button>');
    }, 400)</script>`),
};

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite(pages);
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };
const bytesOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data));

/** What a node leaves out, and everything below it. */
function omittedIn(node: SnapshotNode): number {
  return nodesOf(node).reduce((sum, { omitted = 0 }) => sum + omitted, 0);
}

test(
  'BROWSER-10 max_bytes bounds the data exactly, and the answer says how much was left out and where',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/shop'));
    const whole = { tree: await client.tree(), text: await client.text() };
    const nodes = nodesOf(whole.tree).length;
    for (const max_bytes of [200, 500, 1000, 3000, 7777, 20_000, 60_000]) {
      const { body } = await client.answer({ max_bytes });
      expect(bytesOf(body.data)).toBeLessThanOrEqual(max_bytes);
      const shown = nodesOf(body.data).length;
      if (bytesOf(whole.tree) <= max_bytes) {
        expect(body.data).toEqual(whole.tree);
        expect(body.truncated).toBeNull();
        continue;
      }
      expect(bytesOf(body.data)).toBeGreaterThan(max_bytes - 250);
      expect(body.truncated).toMatchObject({ nodes: nodes - shown });
      expect(omittedIn(body.data)).toBe(nodes - shown);
    }
    for (const max_bytes of [200, 1000, 5000, bytesOf(whole.text) - 1, bytesOf(whole.text)]) {
      const { body } = await client.answer({ max_bytes, format: 'text' });
      expect(bytesOf(body.data)).toBeLessThanOrEqual(max_bytes);
      const lines: string[] = body.data.split('\n');
      const marked = lines.reduce((sum, line) => sum + Number(/ \(\+(\d+) nodes\)$/.exec(line)?.[1] ?? 0), 0);
      expect(body.truncated?.nodes ?? 0).toBe(nodes - lines.length);
      expect(marked).toBe(nodes - lines.length);
    }
    const { body } = await client.answer({ max_bytes: 3000 });
    const cut = nodesOf(body.data).find(
      ({ omitted = 0, ref, role }) => omitted > 0 && ref !== null && role !== 'document',
    )!;
    expect(nodesOf(await client.tree({ root_ref: cut.ref })).length).toBe(nodesOf(cut).length + omittedIn(cut));
    const refusal = await client.answer({ max_bytes: 10 });
    expect([refusal.status, refusal.body.message]).toEqual([400, expect.stringContaining('max_bytes is 10')]);
  },
  options,
);

test(
  'BROWSER-10 depth ends the tree at a level, and root_ref begins it at a node',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/shop'));
    const flat = await client.tree({ depth: 1 });
    expect(flat.children.map(({ role, children, omitted }) => [role, children.length, omitted])).toEqual([
      ['navigation', 0, 121],
      ['main', 0, 320],
    ]);
    const main = await client.tree({ root_ref: nodeOf(flat, 'main', '').ref, interactive_only: true });
    expect(main.children.map(({ role }) => role)).toEqual(Array.from({ length: 80 }, () => 'button'));
  },
  options,
);

test(
  'BROWSER-10 diff_from answers only what was added, removed or changed',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/list'));
    const { body: first } = await client.answer();
    const same = (await client.answer({ diff_from: first.snapshot_id })).body;
    expect(same).toMatchObject({ diff_from: first.snapshot_id, data: { added: [], removed: [], changed: [] } });
    await client.evaluate(`document.querySelector('li').remove();
      document.querySelector('ul').insertAdjacentHTML('beforeend', '<li>Three <button>Delete</button>');
      document.querySelector('input').value = 'typed'; document.querySelector('p').textContent = 'Status: done';`);
    const { body: diff } = await client.answer({ diff_from: first.snapshot_id });
    const list = nodeOf(first.data, 'list', '').ref;
    expect(diff.data.changed).toMatchObject([{ role: 'textbox', value: 'typed', before: { value: '' } }]);
    expect(diff.data.removed.map(({ role, name }: Json) => `${role} ${name}`).toSorted()).toEqual([
      'listitem One',
      'text Status: idle',
    ]);
    const added = diff.data.added.find(({ role }: Json) => role === 'listitem');
    expect(added).toMatchObject({ parent: list, children: [{ role: 'text' }, { role: 'button', name: 'Delete' }] });
    const text = (await client.text({ diff_from: first.snapshot_id })).split('\n');
    expect(text.filter((line) => line.startsWith('~ '))).toHaveLength(1);
    expect(withoutRefs(text.join('\n'))).toContain('+   - button "Delete"');
    const small = (await client.answer({ diff_from: first.snapshot_id, max_bytes: 400 })).body;
    expect(bytesOf(small.data)).toBeLessThanOrEqual(400);
    expect(small.truncated.nodes).toBeGreaterThan(0);
    const unknown = (await client.answer({ diff_from: 's0' })).body;
    expect(unknown).toMatchObject({ diff_from: null, data: { role: 'document' } });
    expect(unknown.message).toContain('s0 is not kept');
  },
  options,
);

test(
  'BROWSER-10 find answers the nodes of a role, name or text with their path',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/shop'));
    const find = async (query: object, rest = {}) => (await client.answer({ find: query, ...rest })).body.data;
    const buttons = await find({ role: 'button', name: 'buy 7' });
    expect(buttons.total).toBe(11);
    expect(buttons.matches[0]).toMatchObject({ role: 'button', name: 'Buy 7', path: ['document "Shop “é”"'] });
    expect((await find({ text: 'tea 5' })).matches.map(({ name }: Json) => name)).toContain('Tea 5 “☕”');
    expect((await find({ text: '"12"' })).matches[0]).toMatchObject({ role: 'text', ref: expect.any(String) });
    expect(await find({ role: 'slider' })).toEqual({ matches: [], total: 0 });
    expect(await find({ role: 'link' }, { format: 'text', max_bytes: 300 })).toStartWith('- link "Link" [ref=');
    expect((await client.answer({ find: {} })).status).toBe(422);
  },
  options,
);

test(
  'BROWSER-10 wait_for waits until a node appears or has gone, and names what did not',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/late'));
    const ready = await client.tree({ wait_for: { role: 'button', name: 'ready' } });
    expect(nodeOf(ready, 'button', 'Ready').ref).not.toBeNull();
    await client.navigate(site.url('/late'));
    const loading = nodesOf(await client.tree({ wait_for: { text: 'Loading', gone: true } }));
    expect(loading.map(({ name }) => name)).not.toContain('Loading');
    const { status, body } = await client.answer({ wait_for: { text: 'Never', timeout: 0.5 } });
    expect([status, body.message]).toEqual([504, 'text "Never" did not appear on the page after 0.5 s']);
    const { ref } = nodeOf(await client.tree(), 'button', 'Ready');
    await client.evaluate(`setTimeout(() => document.querySelector('button').remove(), 300)`);
    await client.tree({ wait_for: { ref, gone: true } });
    expect((await client.answer({ wait_for: {} })).status).toBe(422);
  },
  options,
);

test(
  'BROWSER-10 a document of 50 MB is read within bounds, and the answer says what is missing',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/list'));
    await client.evaluate(`(() => {
      const row = '<p>' + 'word '.repeat(18) + '<button>Act</button></p>';
      const part = document.createElement('template');
      // The browser lays out only what is on the screen; all of it would keep the page busy for minutes.
      const style = 'content-visibility: auto; contain-intrinsic-size: 1px 36000px';
      part.innerHTML = '<div style="' + style + '">' + row.repeat(1000) + '</div>';
      for (let i = 0; i < 450; i++) document.body.append(part.content.cloneNode(true));
      return document.documentElement.innerHTML.length;
    })()`);
    const started = performance.now();
    const { status, body } = await client.answer({ max_bytes: 20_000, timeout: 60 });
    expect(status).toBe(200);
    expect(performance.now() - started).toBeLessThan(55_000);
    expect(bytesOf(body.data)).toBeLessThanOrEqual(20_000);
    expect(body.incomplete[0].elements).toBeGreaterThan(500_000);
    await client.navigate(site.url('/list'));
    expect(nodeOf(await client.tree(), 'textbox', 'Field').value).toBe('');
  },
  { ...options, timeoutMs: 150_000 },
);
