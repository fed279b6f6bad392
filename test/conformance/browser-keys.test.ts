/** What a client can rely on when it types and presses keys in a browser without a display, under both prefixes. */
import { afterAll, beforeAll } from 'bun:test';
import { ActionClient, frameOf, pageHandlers, pathOf } from '../harness/action-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';

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

const log = `<script>seen=[];for(const type of ["keydown","keypress","beforeinput","input","keyup","change"])
  addEventListener(type,e=>seen.push([type,e.key??e.data,e.code,e.isComposing].filter(x=>x!==undefined&&x!==null).join(" ")),true)</script>`;

/** A slider or rating that only keys change. `turned` lets ArrowUp lower the value. */
const slider = (now: number, step: number, keys: string, max = 100) =>
  `<div id=f role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=${max} aria-valuenow=${now}
    onkeydown="const d=({${keys}})[event.key];if(d)ariaValueNow=Math.min(${max},Math.max(0,+ariaValueNow+d*${step}))"></div>`;

for (const prefix of ['/v1', '/v2']) {
  const clientTest = (title: string, body: (client: ActionClient) => Promise<void>) =>
    test(title, async ({ sandbox }) => await body(new ActionClient(sandbox, prefix, site)), options);

  clientTest(`BROWSER-5 ${prefix} fill types each character with the events of its key`, async (client) => {
    await client.open(`<input id=f value=old>${log}`);
    expect(await client.act('fill', { selector: '#f', value: 'aB ü' })).toMatchObject({ value: 'aB ü', matches: true });
    const typed = (key: string, code: string) => [
      ...[`keydown ${key} ${code} false`, `keypress ${key} ${code} false`],
      ...[`beforeinput ${key} false`, `input ${key} false`, `keyup ${key} ${code} false`],
    ];
    expect(await client.value('seen')).toEqual([
      ...[...typed('a', 'KeyA'), ...typed('B', 'KeyB'), ...typed(' ', 'Space'), ...typed('ü', '')],
    ]);
    await client.open('<input id=f onkeyup="document.title=value">');
    expect(await client.act('fill', { selector: '#f', value: '{"a": [1]} 😀' })).toMatchObject({
      title: '{"a": [1]} 😀',
    });
    const long = 'long '.repeat(100);
    expect(await client.act('fill', { selector: '#f', value: long })).toMatchObject({
      value: long,
      title: long.trim(),
    });
    expect(await client.act('fill', { selector: '#f', value: '' })).toMatchObject({ value: '', matches: true });
  });

  clientTest(`BROWSER-5 ${prefix} a line break of a value presses no Enter, and press does`, async (client) => {
    await client.open(
      `<form action="/page?title=Sent" onkeydown="if(event.key==='Enter'&&event.target.id==='t')document.title='sent early'">
        <textarea id=t></textarea><input name=q></form><form action="/page"><input name=title></form>`,
    );
    expect(await client.act('fill', { selector: '#t', value: 'a\nb\tc' })).toMatchObject({
      value: 'a\nb\tc',
      title: 'Page',
    });
    const sent = await client.act('fill', { selector: '[name=title]', value: 'Sent', press: 'Enter' });
    expect(sent.url).toContain('title=Sent');
  });

  clientTest(`BROWSER-4 BROWSER-5 ${prefix} press takes keys, chords and lists`, async (client) => {
    await client.open(`<textarea id=f>one two</textarea><button id=b>b</button>${log}`);
    await client.act('fill', { selector: '#f', press: ['Control+A', 'x', 'Shift+a', 'Shift+1', 'Enter', 'ctrl+z'] });
    const seen = (await client.value('seen')) as string[];
    expect(seen.filter((event) => event.startsWith('keydown'))).toEqual([
      ...['keydown Control ControlLeft false', 'keydown a KeyA false', 'keydown x KeyX false'],
      ...['keydown Shift ShiftLeft false', 'keydown A KeyA false', 'keydown Shift ShiftLeft false'],
      ...[
        'keydown ! Digit1 false',
        'keydown Enter Enter false',
        'keydown Control ControlLeft false',
        'keydown z KeyZ false',
      ],
    ]);
    await client.act('fill', {
      selector: '#f',
      value: 'one two',
      press: ['Home', 'Shift+ArrowRight', 'Delete', 'Tab'],
    });
    expect(await client.value('[f.value, document.activeElement.id]')).toEqual(['ne two', 'b']);
    await client.act('click', { selector: '#f', press: ['End', '+', 'Control++'] });
    expect(await client.value('f.value')).toBe('ne two+');
    for (const wrong of ['Foo', 'hello', 'Foo+A', 'A+B', 'Control+']) {
      const { status, body } = await client.refusal('fill', { selector: '#f', press: wrong });
      expect([status, body.message]).toEqual([400, `"${wrong}" is not a key or a chord`]);
    }
    expect((await client.refusal('fill', { selector: '#f' })).status).toBe(422);
  });

  clientTest(`BROWSER-5 ${prefix} press reaches documents, widgets, frames and shadow trees`, async (client) => {
    const note = 'onkeydown="top.postMessage(event.key+this.id,\'*\')"';
    await client.open(
      `<script>got=[];onmessage=e=>got.push(e.data);addEventListener("keydown",e=>e.key==="Escape"&&got.push("Escape"))</script>
        <div id=w tabindex=0 ${note}>w</div><p id=p>text</p><x-s></x-s><script>document.querySelector('x-s').attachShadow({mode:'closed'})
        .innerHTML=${JSON.stringify(`<button id=s ${note}>s</button>`)}</script>${frameOf(site.otherUrl(pathOf(`<button id=o ${note}>other</button>`)))}`,
    );
    await client.act('fill', { selector: 'body', press: 'Escape' });
    await client.act('fill', { selector: '#w', press: 'ArrowDown' });
    await client.act('fill', { selector: '#s', press: 'ArrowLeft' });
    await client.act('fill', { ref: await client.ref({ name: 'other' }), press: 'F2' });
    expect(await client.value('got')).toEqual(['Escape', 'ArrowDownw', 'ArrowLefts', 'F2o']);
    const { status, body } = await client.refusal('fill', { selector: '#p', press: 'Enter' });
    expect([status, body.message]).toEqual([400, expect.stringContaining('cannot have the focus')]);
  });

  clientTest(`BROWSER-5 ${prefix} keys reach a tab in the background`, async (client) => {
    await client.open('<input id=f onkeyup="document.title=value"><div id=e contenteditable>old</div>');
    const [{ id }] = (await client.list('tabs')).filter(({ active }) => active);
    const front = await client.act('tabs', { url: site.url(pathOf('<p>front</p>')) });
    const filled = await client.act('fill', { tab_id: id, selector: '#f', value: 'abc', press: 'Tab' });
    expect(filled).toMatchObject({ value: 'abc', matches: true, title: 'abc' });
    expect(await client.act('fill', { tab_id: id, selector: '#e', value: 'a\nb' })).toMatchObject({ matches: true });
    await client.close(front.id);
  });

  clientTest(`BROWSER-5 ${prefix} fill sets sliders and ratings`, async (client) => {
    const star = (kind: string) => (n: number) =>
      kind === 'native'
        ? `<input type=radio name=r id=r${n} value=${n * 10} style="position:absolute;opacity:0"><label for=r${n}>${n} stars</label>`
        : `<span role=radio tabindex=0 aria-checked=false aria-label="${n} stars" onclick="this.parentNode.querySelectorAll('span').forEach(s=>s.ariaChecked=s===this)">*</span>`;
    const group = (kind: string) => `<div id=f role=radiogroup>${[1, 2, 3, 4, 5].map(star(kind)).join('')}</div>`;
    for (const [html, value, held] of [
      ['<input id=f type=range value=10>', 70, '70'],
      ['<input id=f type=range min=0 max=1 step=0.1 value=0>', 0.7, '0.7'],
      [slider(30, 1, 'ArrowUp:1,ArrowDown:-1'), 70, '70'],
      [slider(90, 10, 'ArrowRight:1,ArrowLeft:-1'), 20, '20'],
      [slider(0, 5, 'ArrowUp:-1,ArrowDown:1'), 50, '50'],
      [slider(0, 1, 'ArrowRight:1,ArrowLeft:-1', 5), '4', '4'],
      [slider(500, 1, 'ArrowUp:1,ArrowDown:-1', 1000), 977, '977'],
      [group('native'), 4, '4 stars'],
      [group('aria'), '2 stars', '2 stars'],
    ] as const) {
      await client.open(html);
      expect([html, await client.act('fill', { selector: '#f', value })]).toMatchObject([
        html,
        { value: held, matches: true },
      ]);
    }
    await client.open(slider(30, 20, 'ArrowUp:1,ArrowDown:-1'));
    expect(await client.act('fill', { selector: '#f', value: 75 })).toMatchObject({ value: '70', matches: false });
    await client.open(`<div id=f>${group('native').replace('id=f', '')}<input></div>`);
    expect((await client.refusal('fill', { selector: '#f', value: 3 })).status).toBe(400);
    await client.open(group('native'));
    const { body: none } = await client.refusal('fill', { selector: '#f', value: 'six' });
    expect(none.message).toContain('has no option "six": its options are "1 stars", "2 stars"');
    await client.open(slider(30, 20, 'ArrowUp:1,ArrowDown:-1'));
    for (const [value, why] of [
      ['loud', 'takes a number such as 50 from 0 to 100'],
      [101, 'takes a number such as 50 from 0 to 100'],
    ]) {
      const { status, body } = await client.refusal('fill', { selector: '#f', value });
      expect([status, body.message]).toEqual([400, expect.stringContaining(String(why))]);
    }
  });
}
