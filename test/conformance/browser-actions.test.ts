/** What a client can rely on when it clicks, hovers and drags in a page, under both prefixes. */
import { afterAll, beforeAll } from 'bun:test';
import { ActionClient, frameOf, pageHandlers, pathOf } from '../harness/action-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Json } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start('--site-per-process');
  site = startSite(pageHandlers);
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

const log =
  '<script>window.seen=[];function note(e){seen.push(e.type+":"+(e.target.id||e.target.tagName)+":"+e.detail)}</script>';

for (const prefix of ['/v1', '/v2']) {
  const clientTest = (title: string, body: (client: ActionClient) => Promise<void>) =>
    test(title, async ({ sandbox }) => await body(new ActionClient(sandbox, prefix, site)), options);

  clientTest(`BROWSER-1 BROWSER-4 ${prefix} click presses the element of a ref or of a selector`, async (client) => {
    await client.open(
      `${log}<button id=b onclick=note(event) ondblclick=note(event) onauxclick=note(event)>Go</button>`,
    );
    const ref = await client.ref({ name: 'Go' });
    expect(await client.act('click', { ref })).toMatchObject({ title: 'Page', tab_id: expect.any(String) });
    await client.act('click', { selector: '#b' });
    await client.act('click', { ref, count: 2 });
    await client.act('click', { ref, button: 'middle' });
    expect(await client.value('seen')).toEqual([
      ...['click:b:1', 'click:b:1', 'click:b:1', 'click:b:2', 'dblclick:b:2', 'auxclick:b:1'],
    ]);
    await client.open(
      '<canvas onclick="document.title=[event.offsetX,event.offsetY,event.shiftKey,event.altKey]"></canvas>',
    );
    const click = { selector: 'canvas', position: { x: 30, y: 40 }, modifiers: ['shift', 'alt'] };
    expect(await client.act('click', click)).toMatchObject({ title: '30,40,true,true' });
  });

  clientTest(
    `BROWSER-4 BROWSER-5 ${prefix} click and fill take a role and name, a label or a text that one element has`,
    async (client) => {
      const late = 'setTimeout(() => p.innerHTML = \'<button onclick="note(event)" id=late>Late</button>\', 300)';
      await client.open(
        `${log}<h2>Save the file</h2><button id=save onclick=note(event)>Save</button>` +
          '<button id=as onclick=note(event)>Save as…</button><button style="display:none">Late</button>' +
          '<label>Full name <input id=name></label><a href="#x" id=terms onclick=note(event)>the terms</a>' +
          `<label><input type=checkbox id=agree> I agree</label><p id=p></p><script>${late}</script>`,
      );
      await client.act('click', { role: 'button', name: 'late' });
      await client.act('click', { role: 'button', name: 'save' });
      await client.act('click', { text: 'Save as' });
      await client.act('click', { role: 'link', text: 'terms' });
      expect(await client.value('seen')).toEqual(['late', 'save', 'as', 'terms'].map((id) => `click:${id}:1`));
      expect(await client.act('fill', { label: 'full NAME', value: 'Ada' })).toMatchObject({ matches: true });
      expect(await client.act('fill', { role: 'textbox', name: 'Full name', text: 'Bob' })).toMatchObject({
        value: 'Bob',
      });
      await client.act('click', { label: 'I agree' });
      expect(await client.value('[document.querySelector("#name").value, agree.checked]')).toEqual(['Bob', true]);
    },
  );

  clientTest(`BROWSER-4 ${prefix} click refuses what several elements match, and lists them`, async (client) => {
    await client.open(
      `${log}${[1, 2, 3, 4, 5, 6, 7].map((n) => `<section aria-label="Row ${n}"><button onclick=note(event)>Delete ${n}</button></section>`).join('')}`,
    );
    const { status, body } = await client.refusal('click', { role: 'button', name: 'delete' });
    const [first] = (body.data as Json)['matches'];
    expect(status).toBe(400);
    expect(body.message).toStartWith(
      `7 elements match role button, name "delete": button "Delete 1" in region "Row 1" (ref ${first.ref}), `,
    );
    expect(body.message).toEndWith(' and 2 more');
    expect(body.data).toMatchObject({ total: 7, matches: { length: 5 } });
    expect(await client.value('seen')).toEqual([]);
    await client.act('click', { ref: first.ref });
    expect(await client.value('seen.length')).toBe(1);
    const missing = await client.refusal('click', { role: 'button', name: 'Rename', timeout: 0.5 });
    expect([missing.status, missing.body.message]).toEqual([
      400,
      'no element matched role button, name "Rename" within 0.5 s',
    ]);
  });

  clientTest(
    `BROWSER-4 ${prefix} click waits until the element is shown, enabled, still and uncovered`,
    async (client) => {
      const after = (script: string) => `<script>setTimeout(() => { ${script} }, 300)</script>`;
      const button = '<button id=b onclick="document.title=1" style="position:absolute;left:50px">Go</button>';
      for (const html of [
        `${button.replace('<button', '<button disabled')}${after('b.disabled = false')}`,
        `${button.replace('absolute', 'absolute;display:none')}${after('b.style.display = "block"')}`,
        `${button}<div id=o style="position:fixed;inset:0"></div>${after('o.remove()')}`,
        `${button}<style>@keyframes m{from{transform:translateX(300px)}}#b{animation:m .3s linear}</style>`,
        `<p id=p></p><script>setTimeout(() => p.innerHTML = ${JSON.stringify(button)}, 300)</script>`,
      ]) {
        await client.open(html);
        expect([html, (await client.act('click', { selector: '#b' })).title]).toEqual([html, '1']);
      }
    },
  );

  clientTest(`BROWSER-4 ${prefix} click names what keeps it from the element`, async (client) => {
    const button = '<button id="b" onclick="document.title=1">Go</button>';
    for (const [html, message] of [
      [
        `${button}<div id="overlay" class="modal" style="position:fixed;inset:0"></div>`,
        'is still covered by <div id="overlay" class="modal"> after 0.5 s',
      ],
      [
        `<dialog id="d">x</dialog>${button}<script>d.showModal()</script>`,
        'is still covered by <dialog id="d"> after 0.5 s',
      ],
      ['<button id="b" disabled>Go</button>', 'is still disabled after 0.5 s'],
      ['<button id="b" style="visibility:hidden">Go</button>', 'is still not visible after 0.5 s'],
      [
        `${button}<style>@keyframes m{to{transform:translateX(90px)}}#b{animation:m 9s linear infinite}</style>`,
        'still moves after 0.5 s',
      ],
    ]) {
      await client.open(html ?? '');
      const { status, body } = await client.refusal('click', { selector: '#b', timeout: 0.5 });
      expect([status, body.message]).toEqual([504, `selector "#b" (<button id="b">) ${message}`]);
      expect(await client.value('document.title')).toBe('Page');
    }
  });

  clientTest(
    `BROWSER-4 ${prefix} click reaches frames of all kinds, shadow trees, and what has to be scrolled to`,
    async (client) => {
      const button = (name: string) => `<button onclick="top.postMessage('${name}','*')">${name}</button>`;
      const far = (html: string) => `<div style="height:2000px"></div>${html}<div style="height:2000px"></div>`;
      const inner = site.url(pathOf(far(button('nested'))));
      const other = site.otherUrl(pathOf(far(button('foreign') + frameOf(inner, 'border:7px solid;padding:5px'))));
      const shadow = (mode: string) =>
        `<x-${mode}></x-${mode}><script>document.querySelector('x-${mode}').attachShadow({mode:'${mode}'}).innerHTML=${JSON.stringify(button(mode))}</script>`;
      const header = '<div style="position:sticky;top:0;height:45vh;background:#eee">Header</div>';
      await client.open(
        `<script>seen=[];onmessage=e=>seen.push(e.data)</script>${header}${far(button('below'))}${shadow('open')}${shadow('closed')}` +
          far(frameOf(site.url(pathOf(far(button('same')))), 'transform:scale(.8)')) +
          far(frameOf(other, 'border:20px solid;height:300px')),
      );
      const names = ['below', 'open', 'closed', 'same', 'foreign', 'nested'];
      for (const name of names) await client.click({ role: 'button', name });
      await until(
        'the frames have told of their clicks',
        async () => (await client.value('seen.length')) === names.length,
      );
      expect(await client.value('seen')).toEqual(names);
    },
  );

  clientTest(`BROWSER-4 ${prefix} hover opens a menu whose items can then be clicked`, async (client) => {
    await client.open(
      `<style>li ul{display:none}li:hover ul{display:block}</style><ul><li id=m>Menu<ul><li><a href="#" onclick="document.title='chosen'">Item</a></li></ul></li></ul>`,
    );
    expect((await client.refusal('click', { selector: 'a', timeout: 0.3 })).status).toBe(504);
    await client.act('click', { selector: '#m', hover: true, position: { x: 5, y: 5 } });
    expect(await client.click({ role: 'link', name: 'Item' })).toMatchObject({ title: 'chosen' });
  });

  clientTest(
    `BROWSER-4 ${prefix} drag_to drops an element by HTML drag and drop and by the pointer`,
    async (client) => {
      await client.open(
        "<p id=a draggable=true role=button tabindex=0 ondragstart=\"event.dataTransfer.setData('text/plain','payload')\" ondragend=\"document.title+=' end'\">source</p>" +
          '<p role=button tabindex=0 ondragover="event.preventDefault()" ondrop="event.preventDefault();document.title=event.dataTransfer.getData(\'text/plain\')">target</p>',
      );
      const drag = async () =>
        await client.act('click', {
          ref: await client.ref({ name: 'source' }),
          drag_to: await client.ref({ name: 'target' }),
        });
      await drag();
      expect(await client.value('document.title')).toStartWith('payload');
      await client.open(
        `<div id=s role=button tabindex=0 style="position:absolute;left:0;top:0;width:50px;height:50px;background:red">source</div>
       <div role=button tabindex=0 style="position:absolute;left:300px;top:200px;width:90px;height:90px;background:blue">target</div>
       <script>s.onpointerdown=e=>{s.setPointerCapture(e.pointerId);s.onpointermove=m=>{s.style.left=m.clientX-25+'px';s.style.top=m.clientY-25+'px'};s.onpointerup=()=>{s.onpointermove=null;document.title=s.style.left+' '+s.style.top}}</script>`,
      );
      expect(await drag()).toMatchObject({ title: '320px 220px' });
    },
  );

  clientTest(`BROWSER-4 ${prefix} click reports a navigation, a new tab, a download and dialogs`, async (client) => {
    const next = site.url(pathOf('next', { title: 'Next', delay: '200' }));
    await client.open(`<a href="${next}">Link</a>`);
    expect(await client.click({ name: 'Link' })).toMatchObject({ url: next });
    await client.open(`<form action="/page"><input name=title value=Sent><button>Send</button></form>`);
    expect(await client.click({ name: 'Send' })).toMatchObject({ url: expect.stringContaining('title=Sent') });
    await client.open(`<a target=_blank href="${next}">Link</a>`);
    const opened = await client.click({ name: 'Link' });
    const [{ tab_id }] = opened.opened_tabs;
    expect([tab_id === opened.tab_id, opened.opened_tabs]).toEqual([false, [{ tab_id, url: next }]]);
    const title = { tab_id, expression: 'document.body && document.title' };
    await until('the new tab has loaded', async () => (await client.act('evaluate', title)).value === 'Next');
    const expression = 'document.body.innerHTML = "<button onclick=window.close()>Close</button>"';
    await client.act('evaluate', { tab_id, expression });
    expect(await client.act('click', { tab_id, selector: 'button' })).toMatchObject({ tab_id, closed: true });
    for (const html of ['<a href="/file">Get</a>', '<a href="/file" download>Get</a>']) {
      await client.open(html);
      expect((await client.click({ name: 'Get' })).downloads).toMatchObject([{ suggested_filename: 'a.txt' }]);
    }
    await client.open('<button onclick="alert(1);document.title=[confirm(2),prompt(3)]">Ask</button>');
    const asked = await client.click({ name: 'Ask' });
    expect(asked.dialogs.map((dialog: { type: string }) => dialog.type)).toEqual(['alert', 'confirm', 'prompt']);
    expect(asked.title).toBe('false,');
    expect(await client.click({ name: 'Ask' }, { dialog_text: 'yes' })).toMatchObject({ title: 'true,yes' });
    await client.open(`<body onbeforeunload="return 1"><a href="${next}">Leave</a>`);
    expect(await client.click({ name: 'Leave' })).toMatchObject({ url: next, dialogs: [{ type: 'beforeunload' }] });
  });
}

const client = (title: string, body: (client: ActionClient) => Promise<void>) =>
  test(title, async ({ sandbox }) => await body(new ActionClient(sandbox, '/v2', site)), options);

client('BROWSER-4 an endless loop of alerts is stopped, and the next click works', async (client) => {
  await client.open('<button onclick="for(;;)alert(1)">Loop</button><a href="#" onclick="document.title=1">Next</a>');
  // Chromium stops such a loop only after some hundred dialogs.
  const { status, body } = await client.refusal('click', { ref: await client.ref({ name: 'Loop' }), timeout: 60 });
  expect([status, body.message]).toEqual([504, expect.stringMatching(/opened \d+ dialogs .* its script was stopped$/)]);
  expect(await client.click({ name: 'Next' })).toMatchObject({ title: '1' });
});

client('BROWSER-4 a ref of an element or a document that has gone is 409', async (client) => {
  await client.open('<button>Go</button>');
  const ref = await client.ref({ name: 'Go' });
  await client.value('document.querySelector("button").remove()');
  expect(await client.refusal('click', { ref })).toMatchObject({ status: 409 });
  await client.open('<button>Go</button>');
  const fields = { click: {}, fill: { value: 'x' }, upload: { paths: ['/etc/hostname'] } };
  for (const [verb, more] of Object.entries(fields)) {
    const { status, body } = await client.refusal(verb, { ref, ...more });
    expect([status, body.hint]).toEqual([409, expect.stringContaining('/browser/snapshot')]);
    expect(body.data).toMatchObject({ reason: 'ref_stale' });
  }
  expect((await client.refusal('click', { ref: 'e1' })).status).toBe(409);
  for (const text of ['button Sign in', '', 'e', '#save', 'x'.repeat(1e6)]) {
    const { status, body } = await client.refusal('click', { ref: text });
    expect([status, body.message]).toEqual([409, expect.stringContaining('is not a ref')]);
    expect(body.data).toMatchObject({ reason: 'ref_malformed' });
    expect(body.message.length).toBeLessThan(300);
  }
});

client(
  'BROWSER-4 a page that replaces prototypes and names its controls after them is clicked and filled',
  async (client) => {
    await client.open(
      `<script>for (const type of [Element, Node, EventTarget, Array, Map, Promise, JSON.constructor])
       for (const name of Object.getOwnPropertyNames(type.prototype)) try { type.prototype[name] = () => { throw "trap" } } catch { /* a few cannot be replaced */ }
       window.requestAnimationFrame = () => 0</script>
     <div id=boxkeep></div><img name=elementFromPoint><img name=querySelector>
     <form id=f onsubmit="return false"><input name=parentNode><input name=isConnected><input name=getRootNode id=i><button id=b>Go</button></form>`,
    );
    await client.act('click', { selector: '#b' });
    expect(await client.act('fill', { selector: '#i', value: 'text' })).toMatchObject({ value: 'text', matches: true });
    await client.act('click', { selector: '#f' });
  },
);

client('BROWSER-4 click waits until a script has moved the element to its place', async (client) => {
  const button = '<button id=b style="position:absolute;left:0" onclick="document.title=this.style.left">Go</button>';
  for (const [name, begin] of [
    ['while the page loads', 'move()'],
    ['later', 'onkeydown = move'],
  ]) {
    await client.open(
      `${button}<script>let x=0;function move(){b.style.left=++x*4+'px';if(x<100)requestAnimationFrame(move)}${begin}</script>`,
    );
    const ref = await client.ref({ name: 'Go' });
    if (name === 'later') await client.value('new Promise((r) => (move(), requestAnimationFrame(r)))');
    expect([name, (await client.act('click', { ref })).title]).toEqual([name, '400px']);
  }
});

client('BROWSER-4 an element that begins to move at a click is clicked once', async (client) => {
  await client.open(
    `<button id=a onclick="move()">Start</button><button id=b style="position:absolute;left:0;top:50px" onclick="n++">Go</button>
     <script>let n=0,x=0;function move(){b.style.left=++x*4+'px';if(x<100)requestAnimationFrame(move)}</script>`,
  );
  const [start, go] = [await client.ref({ name: 'Start' }), await client.ref({ name: 'Go' })];
  await client.act('click', { ref: start });
  await client.act('click', { ref: go });
  expect(await client.value('n')).toBe(1);
});

client('BROWSER-4 click follows a form that a script, a link or a shadow tree sends', async (client) => {
  const form = '<form id=f action="/page"><input name=title value=Sent></form>';
  const inner = '<form action="/page"><input name=title value=Sent><button>Go</button></form>';
  for (const html of [
    `${form}<button onclick="f.submit()">Go</button>`,
    `${form}<a href="javascript:f.submit()">Go</a>`,
    `<x-s></x-s><script>document.querySelector('x-s').attachShadow({mode:'open'}).innerHTML=${JSON.stringify(inner)}</script>`,
  ]) {
    await client.open(html);
    const answer = await client.click({ name: 'Go' });
    expect([html, answer.url]).toEqual([html, expect.stringContaining('title=Sent')]);
  }
  await client.open(
    '<form action="/page"><button>Go</button></form><script>navigation.onnavigate=e=>e.preventDefault()</script>',
  );
  expect((await client.click({ name: 'Go' })).url).not.toEndWith('/page?');
});

client('BROWSER-4 two clicks at once on one page both arrive', async (client) => {
  await client.open(
    '<button id=a onclick="this.value++" value=0>A</button><button id=b onclick="this.value++" value=0>B</button>',
  );
  await Promise.all(['#a', '#b', '#a', '#b'].map((selector) => client.act('click', { selector })));
  expect(await client.value('[a.value, b.value]')).toEqual(['2', '2']);
});

client('BROWSER-4 a tab that is closed while a click waits is 404', async (client) => {
  const tab = await client.act('tabs', { url: site.url(pathOf('<button id=b disabled>Go</button>')) });
  const waiting = client.refusal('click', { tab_id: tab.id, selector: '#b' });
  await until('the click waits', async () => await client.value('true'));
  await client.act('cdp', { method: 'Target.closeTarget', params: { targetId: tab.id }, browser: true });
  expect((await waiting).status).toBe(404);
});

client('BROWSER-4 a selector that matches nothing or is invalid is 400, and wrong types are 422', async (client) => {
  await client.open('<p>text</p>');
  const missing = await client.refusal('click', { selector: '#none', timeout: 0.3 });
  expect([missing.status, missing.body.message]).toEqual([400, 'no element matched selector "#none" within 0.3 s']);
  expect((await client.refusal('click', { selector: 'a[' })).status).toBe(400);
  for (const body of [
    {},
    { selector: 7 },
    { selector: 'p', button: 'none' },
    { selector: 'p', count: 0 },
    { selector: 'p', position: { x: 1 } },
  ]) {
    expect([body, (await client.refusal('click', body)).status]).toEqual([body, 422]);
  }
});
