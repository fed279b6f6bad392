/** What a snapshot shows of frames, shadow roots and scripted elements, and how long its refs last. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { SnapshotClient, nodeOf, nodesOf, withoutRefs } from '../harness/snapshot-client.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;

const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } });

const pages = {
  '/form': () =>
    html(`<title>Form</title><main><h1>Order</h1><p>Choose <b>one</b> item.</p><form aria-label=Order>
      <label>Name <input required value=Ada></label><label><input type=checkbox checked> Gift</label>
      <select aria-label=Size><option>S<option selected>M</select><button>Send</button></form>
      <ul><li>One<li><a href=#>Two</a></ul></main>`),
  '/frames': () =>
    html(`<title>Frames</title><button>Outer</button><iframe title=Same src=/inner></iframe>
      <iframe title=Cross src="${site.otherUrl('/nested')}"></iframe>
      <iframe style="display:none" src=/inner></iframe><button>Last</button>`),
  '/nested': () => html(`<title>Nested</title><a href=#>Cross link</a><iframe src="${site.url('/inner')}"></iframe>`),
  '/inner': () => html('<title>Inner page</title><button>Inner</button>'),
  '/busy': () =>
    html(`<title>Busy</title><button>Outer</button><iframe title=Stuck src="${site.otherUrl('/endless')}"></iframe>
      <button>Last</button>`),
  // A script that begins before the load event holds back the navigation of the page around the frame until it ends.
  '/endless': () =>
    html(`<title>Endless</title><button>Inner</button><script>onload = () => setTimeout(() => {
      for (const end = Date.now() + 12000; Date.now() < end;);
    }, 50)</script>`),
  '/frameset': () =>
    html(`<title>Set</title><frameset cols="50%,50%"><frame src=/inner name=left>
      <frame src="${site.otherUrl('/inner')}" name=right></frameset>`),
  '/shadow': () =>
    html(`<title>Shadow</title><x-open><b slot=s>Slotted</b></x-open><x-closed></x-closed><div id=host></div><script>
      document.querySelector('x-open').attachShadow({mode: 'open'}).innerHTML = '<h2><slot name=s></slot></h2>';
      customElements.define('x-closed', class extends HTMLElement {
        constructor() {
          super();
          this.attachShadow({mode: 'closed'}).innerHTML = '<button>Closed</button><x-deep></x-deep>';
        }
      });
      customElements.define('x-deep', class extends HTMLElement {
        constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<input aria-label=Deep>' }
      });
      const root = host.attachShadow({mode: 'closed'});
      root.innerHTML = '<a href=#>In a div</a><span>Listens</span>';
      root.querySelector('span').addEventListener('click', () => {});</script>`),
  '/deep-roots': () =>
    html(`<title>Deep</title><div id=first></div>${'<x-row></x-row>'.repeat(300)}<script>
      const nest = (host, level) => {
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '<button>Level ' + level + '</button><div>\\u200b</div>';
        const inner = root.querySelector('div');
        inner.textContent = '';
        inner.style.height = '1px';
        if (level < 40) nest(inner, level + 1);
      };
      nest(first, 1);
      let count = 0;
      customElements.define('x-row', class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode: 'closed' }).innerHTML = '<a href=#>Row ' + ++count + '</a>' }
      });</script>`),
  '/long': () => html(`<title>Long</title>${'<button>A button with a name</button>'.repeat(5000)}`),
  '/many-listeners': () =>
    html(`<title>Many</title><body><script>
      for (let n = 1; n <= 300; n++) {
        const element = document.createElement('div');
        element.textContent = 'Item ' + n;
        element.addEventListener('click', () => 1);
        document.body.append(element);
      }</script>`),
  '/clickable': () =>
    html(`<title>Clickable</title><style>.pointer {cursor: pointer}</style><div id=app><div id=listens>Listens</div>
      <div class=pointer>Pointer <i>inside</i></div><div onclick="1">Attribute</div><div tabindex=0>Focusable</div>
      <div contenteditable aria-label=Note>Text</div><div>Plain</div></div><script>
      document.addEventListener('click', () => {});
      listens.addEventListener('click', () => {});
      for (const type of ['click', 'mousedown', 'keydown', 'keyup', 'focusin', 'focusout', 'input', 'change', 'submit',
        'reset', 'drag', 'drop', 'paste', 'copy', 'cut', 'wheel', 'scroll']) app.addEventListener(type, () => {});
      </script>`),
};

beforeAll(async () => {
  chromium = await Chromium.start('--site-per-process');
  site = startSite(pages);
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

for (const prefix of ['/v1', '/v2']) {
  test(
    `BROWSER-10 ${prefix} a snapshot has roles, names, values and states, and as text one line for each node`,
    async ({ sandbox }) => {
      const client = new SnapshotClient(sandbox, prefix);
      await client.navigate(site.url('/form'));
      const root = await client.tree();
      expect(root).toMatchObject({ role: 'document', name: 'Form', value: null, states: [] });
      expect(nodeOf(root, 'textbox', 'Name')).toMatchObject({ value: 'Ada', states: ['required'], children: [] });
      expect(nodeOf(root, 'checkbox', 'Gift').states).toEqual(['checked']);
      const refs = nodesOf(root).flatMap(({ ref }) => (ref === null ? [] : [ref]));
      expect(new Set(refs).size).toBe(refs.length);
      expect(refs.every((ref) => /^e\d+-[0-9a-z]{5}$/.test(ref))).toBe(true);
      expect(withoutRefs(await client.text())).toEqual([
        '- document "Form"',
        '  - main',
        '    - heading "Order" [level=1]',
        '    - text: Choose one item.',
        '    - form "Order"',
        '      - textbox "Name" [required]: Ada',
        '      - checkbox "Gift" [checked]',
        '      - combobox "Size": M',
        '        - option "S"',
        '        - option "M" [selected]',
        '      - button "Send"',
        '    - list',
        '      - listitem "One"',
        '      - listitem',
        '        - link "Two"',
      ]);
      const byQuery = await sandbox.ok(`GET ${prefix}/browser/snapshot?interactive_only=true&format=text`);
      expect(withoutRefs(byQuery as unknown as string)).toEqual([
        '- document "Form"',
        '  - textbox "Name" [required]: Ada',
        '  - checkbox "Gift" [checked]',
        '  - combobox "Size": M',
        '    - option "S"',
        '    - option "M" [selected]',
        '  - button "Send"',
        '  - link "Two"',
      ]);
    },
    options,
  );
}

test(
  'BROWSER-10 frames of the same and of other processes stand below the element that shows them',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/frames'));
    expect(withoutRefs(await client.text())).toEqual([
      '- document "Frames"',
      '  - button "Outer"',
      '  - iframe "Same"',
      '    - button "Inner"',
      '  - iframe "Cross"',
      '    - link "Cross link"',
      '    - iframe "Inner page"',
      '      - button "Inner"',
      '  - button "Last"',
    ]);
    const root = await client.tree();
    const refs = nodesOf(root).flatMap(({ ref }) => (ref === null ? [] : [ref]));
    expect(new Set(refs).size).toBe(refs.length);
    const inner = await client.tree({ root_ref: nodeOf(root, 'iframe', 'Cross').ref });
    expect(inner.children.map(({ role }) => role)).toEqual(['link', 'iframe']);
    await client.navigate(site.url('/frameset'));
    expect(withoutRefs(await client.text())).toEqual([
      '- document "Set"',
      '  - iframe "left"',
      '    - button "Inner"',
      '  - iframe "right"',
      '    - button "Inner"',
    ]);
  },
  options,
);

test(
  'BROWSER-10 open and closed shadow roots are part of the tree',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/shadow'));
    const expected = [
      '- document "Shadow"',
      '  - heading "Slotted" [level=2]',
      '  - button "Closed"',
      '  - textbox "Deep"',
      '  - link "In a div"',
      '  - generic "Listens" [clickable]',
    ];
    const first = await client.text();
    expect(withoutRefs(first)).toEqual(expected);
    expect(await client.text()).toBe(first);
  },
  options,
);

test(
  'BROWSER-10 closed shadow roots are part of the tree, however many there are and however deep',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/deep-roots'));
    const { body } = await sandbox.request('POST /v2/browser/snapshot', { format: 'text' });
    const text = body.data as unknown as string;
    for (let level = 1; level <= 40; level += 1) expect(text).toContain(`button "Level ${level}" `);
    for (let row = 1; row <= 300; row += 1) expect(text).toContain(`link "Row ${row}" `);
    expect(body).not.toHaveProperty('incomplete');
  },
  options,
);

test(
  'BROWSER-10 a snapshot without max_bytes has at most 256 KiB, and says how much is left out',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/long'));
    const { body } = await sandbox.request('POST /v2/browser/snapshot', {});
    expect(Buffer.byteLength(JSON.stringify(body.data))).toBeLessThanOrEqual(256 * 1024);
    const { nodes } = (body as unknown as { truncated: { nodes: number } }).truncated;
    expect(body.data).toMatchObject({ omitted: nodes });
    expect(body.message).toBe(`${nodes} nodes are left out; pass max_bytes, or the root_ref of a part`);
    const whole = await sandbox.request('POST /v2/browser/snapshot', { max_bytes: 10_000_000 });
    expect(whole.body).toMatchObject({ truncated: null, message: 'Operation successful' });
  },
  options,
);

test(
  'BROWSER-10 what one snapshot does not look at is reported, and is part of the next one',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/many-listeners'));
    const { body } = await sandbox.request('POST /v2/browser/snapshot', {});
    expect(body).toMatchObject({ incomplete: [{ reason: 'listeners', elements: 44, characters: 0 }] });
    const next = await sandbox.request('POST /v2/browser/snapshot', { format: 'text' });
    expect(next.body).not.toHaveProperty('incomplete');
    expect((next.body.data as unknown as string).match(/\[clickable/g)).toHaveLength(300);
  },
  options,
);

test(
  'BROWSER-10 elements that scripts made clickable have refs, and the root of an application has none',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/clickable'));
    expect(withoutRefs(await client.text())).toEqual([
      '- document "Clickable"',
      '  - generic "Listens" [clickable]',
      '  - generic "Pointer inside" [clickable]',
      '  - generic "Attribute" [clickable]',
      '  - generic "Focusable" [clickable]',
      '  - textbox "Note" [multiline]: Text',
      '  - text: Plain',
    ]);
    await client.evaluate(`document.querySelector('#app > div:last-child').addEventListener('mousedown', () => {})`);
    expect(nodeOf(await client.tree(), 'generic', 'Plain').states).toEqual(['clickable']);
  },
  options,
);

test(
  'BROWSER-10 a ref stays the same while its element lives, across a restart of the daemon and an idle disconnect',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/frames'));
    const before = await client.tree();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await client.tree()).toEqual(before);
    await until('the daemon disconnects', async () => {
      const metrics = await (await sandbox.fetch('GET /metrics')).text();
      return /^boxkeep_browser_connections 0$/m.test(metrics);
    });
    await client.evaluate(`document.querySelector('button').textContent = 'Renamed'`);
    const renamed = nodeOf(await client.tree(), 'button', 'Renamed');
    expect(renamed.ref).toBe(nodeOf(before, 'button', 'Outer').ref);
  },
  { ...options, expectedWarnings: ['started again by init'] },
);

test(
  'BROWSER-10 a ref still names its element after a garbage collection of the page',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    for (const path of ['/clickable', '/shadow', '/form']) {
      await client.navigate(site.url(path));
      const before = nodesOf(await client.tree()).filter(({ ref, role }) => ref !== null && role !== 'document');
      await sandbox.ok('POST /v2/browser/cdp', { method: 'HeapProfiler.collectGarbage' });
      for (const { ref, role, name } of before) {
        expect(await client.tree({ root_ref: ref })).toMatchObject(role === 'generic' ? {} : { role, name });
      }
    }
  },
  options,
);

test(
  'BROWSER-10 a ref of an element or a document that has gone is stale',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/form'));
    const root = await client.tree();
    const { ref } = nodeOf(root, 'button', 'Send');
    await client.evaluate(`document.querySelector('button').remove()`);
    for (const root_ref of [ref, 'e1-zzzzz', 'nonsense']) {
      const { status, body } = await client.answer({ root_ref });
      expect(status).toBe(409);
      expect(body).toMatchObject({ success: false, hint: expect.stringContaining('/v2/browser/snapshot') });
    }
    await client.navigate(site.url('/form'));
    expect((await client.answer({ root_ref: nodeOf(root, 'main', '').ref })).status).toBe(409);
    expect((await client.tree()).ref).not.toBe(root.ref);
  },
  options,
);

test(
  'BROWSER-10 a frame whose script does not end is reported as unreadable, and the page around it is read',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    await client.navigate(site.url('/busy'));
    await until('the frame is busy', async () => (await client.text()).includes('unreadable'));
    expect(withoutRefs(await client.text())).toEqual([
      '- document "Busy"',
      '  - button "Outer"',
      '  - iframe "Stuck" [unreadable]',
      '  - button "Last"',
    ]);
    await client.navigate(site.url('/inner'));
    expect(withoutRefs(await client.text())).toEqual(['- document "Inner page"', '  - button "Inner"']);
  },
  options,
);

test(
  'BROWSER-10 a ref stays the same after a garbage collection of the page',
  async ({ sandbox }) => {
    const client = new SnapshotClient(sandbox, '/v2');
    for (const path of ['/form', '/shadow', '/form']) {
      await client.navigate(site.url(path));
      const before = await client.tree();
      await client.evaluate('Array.from({ length: 300_000 }, () => ({})).length');
      await sandbox.ok('POST /v2/browser/cdp', { method: 'HeapProfiler.collectGarbage' });
      expect(await client.tree()).toEqual(before);
    }
  },
  options,
);
