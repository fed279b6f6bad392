/** What a client can rely on when it clicks or drops on anything that a page shows, under both prefixes. */
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

const watch = '<script>addEventListener("click",e=>document.title=e.target.id||e.target.localName)</script>';
const pixel = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
const area = (id: string, shape: string, coords: string) =>
  `<area id=${id} shape=${shape} coords="${coords}" href="#${id}" alt=${id}>`;
const image = `<map name=m>${area('rect', 'rect', '0,0,40,40')}${area('circle', 'circle', '100,20,15')}${area('poly', 'poly', '0,60,120,60,120,120,110,70,0,70')}
  ${area('hidden', 'rect', '0,0,40,40')}</map><img usemap="#m" src="${pixel}" width=200 height=150 style="border:5px solid;padding:3px;margin-top:2000px">`;

/** What to look for, and the element that gets the click. */
const places: readonly (readonly [html: string, selector: string, clicked: string])[] = [
  [image, '#rect', 'rect'],
  [image, '#circle', 'circle'],
  [image, '#poly', 'poly'],
  [image.replace('<img ', '<img class=s ').replace('margin', 'transform:scale(.5);margin'), '#circle', 'circle'],
  ['<svg width=99 height=99><line id=l x1=5 y1=90 x2=90 y2=5 stroke=red stroke-width=4 /></svg>', '#l', 'l'],
  ['<svg width=99 height=99><circle id=c cx=50 cy=50 r=40 fill=none stroke=red stroke-width=5 /></svg>', '#c', 'c'],
  ['<svg width=99 height=99><text id=t x=5 y=50>label</text></svg>', '#t', 't'],
  ['<div id=z style="width:0;height:0"><button id=b style="width:90px">wide</button></div>', '#z', 'b'],
  ['<div id=z style="height:0"><div style="float:left" id=b>text</div></div>', '#z', 'b'],
  [
    '<div style="width:120px;height:60px;overflow:auto"><div id=w style="width:5000px;height:3000px">wide</div></div>',
    '#w',
    'w',
  ],
  ['<div style="width:60px">a long <a id=a href="#">wrapped link</a></div>', '#a', 'a'],
  [
    '<style>#b{position:relative}#b::after{content:"";position:absolute;inset:0}</style><button id=b>go</button>',
    '#b',
    'b',
  ],
  ['<details><summary id=s>more</summary>text</details>', '#s', 's'],
  ['<label id=l>Agree <input id=i type=checkbox hidden></label>', '#l', 'i'],
  ['<a id=a href="#" style="display:contents"><b id=b>text</b></a>', '#a', 'b'],
  [
    '<div style="position:sticky;top:0;height:60vh;background:red">x</div><p style="height:3000px"><a id=a href="#">a</a>',
    '#a',
    'a',
  ],
];

for (const prefix of ['/v1', '/v2']) {
  const clientTest = (title: string, body: (client: ActionClient) => Promise<void>) =>
    test(title, async ({ sandbox }) => await body(new ActionClient(sandbox, prefix, site)), options);

  clientTest(`BROWSER-4 ${prefix} click reaches areas, shapes and what has no box of its own`, async (client) => {
    for (const [html, selector, clicked] of places) {
      await client.open(`${html}${watch}`);
      expect([html, selector, (await client.act('click', { selector, timeout: 3 })).title]).toEqual([
        html,
        selector,
        clicked,
      ]);
    }
    await client.open(`${image}${watch}`);
    expect(await client.click({ role: 'link', name: 'circle' })).toMatchObject({ title: 'circle' });
    const { status, body } = await client.refusal('click', { selector: '#hidden', timeout: 0.5 });
    expect([status, body.message]).toEqual([504, expect.stringContaining('is still covered by')]);
  });

  clientTest(
    `BROWSER-4 BROWSER-10 ${prefix} find gives each text a ref of its own, which clicks on the text`,
    async (client) => {
      const inner = `<p id=f>in a frame</p>${watch.replace('document.title=', 'top.postMessage(')}`.replace(
        'localName)',
        'localName,"*"))',
      );
      await client.open(
        `<p id=h>head</p><div id=z style="height:50px">drop here</div><div id=big style="height:3000px">at the top</div>
        <div style="height:2000px;padding-top:1900px" id=low>far <b id=b>below</b></div>body text<x-s></x-s>${frameOf(site.otherUrl(pathOf(inner)), 'transform:scale(.7)')}
        <script>onmessage=e=>document.title=e.data;document.querySelector('x-s').attachShadow({mode:'closed'}).innerHTML='<p>in a shadow</p>'</script>${watch}`,
      );
      for (const [text, clicked] of [
        ['head', 'h'],
        ['drop here', 'z'],
        ['at the top', 'big'],
        ['far below', 'low'],
        ['body text', 'body'],
        ['in a shadow', 'x-s'],
        ['in a frame', 'f'],
      ]) {
        await client.value('document.title = ""');
        await client.act('click', { ref: await client.ref({ text: text ?? '' }) });
        expect([text, await client.value('document.title')]).toEqual([text, clicked]);
      }
      const ref = await client.ref({ text: 'drop here' });
      expect(await client.act('snapshot', { root_ref: ref, format: 'text' })).toContain('drop here');
      expect(
        (await client.act('snapshot', {})).children.filter(({ role }: { role: string }) => role === 'text'),
      ).toContainEqual(expect.objectContaining({ name: 'head', ref: null }));
      await client.value('document.querySelector("#z").remove()');
      expect((await client.refusal('click', { ref })).status).toBe(409);
    },
  );

  clientTest(`BROWSER-4 ${prefix} drag_to takes a ref, a selector or a position`, async (client) => {
    await client.open(
      `<style>div{width:90px;height:60px;margin:20px;border:1px solid}</style><div id=s draggable=true>take</div><div id=z>drop here</div>
        <div id=e></div><script>seen=[];for(const d of [z,e]){d.ondragover=v=>v.preventDefault();d.ondrop=v=>seen.push([d.id,v.offsetX])}</script>`,
    );
    const drag = async (drag_to: unknown) => await client.act('click', { selector: '#s', drag_to });
    await drag(await client.ref({ text: 'drop here' }));
    await drag({ selector: '#e' });
    await drag({ selector: '#e', position: { x: 12, y: 12 } });
    const box = await client.value('(({x, y}) => ({x: x + 30, y: y + 30}))(z.getBoundingClientRect())');
    await drag({ position: box });
    expect((await client.value('seen')).map(([id]: [string]) => id)).toEqual(['z', 'e', 'e', 'z']);
    expect((await client.value('seen'))[2][1]).toBe(11);
    expect((await client.refusal('click', { selector: '#s', drag_to: {} })).status).toBe(422);
  });

  clientTest(`BROWSER-4 ${prefix} a position alone is one of the visible page`, async (client) => {
    await client.open(
      `<body style="margin:0;height:3000px"><canvas id=c width=300 height=200 style="position:fixed;left:40px;top:30px"
        onclick="document.title=[event.offsetX,event.offsetY]"></canvas><script>scrollTo(0,500)</script>`,
    );
    expect(await client.act('click', { position: { x: 50, y: 60 } })).toMatchObject({ title: '10,30' });
    expect(await client.value('scrollY')).toBe(500);
    const { status, body } = await client.refusal('click', { position: { x: 9000, y: 5 }, timeout: 0.3 });
    expect([status, body.message]).toEqual([504, expect.stringContaining('outside the visible part')]);
    expect((await client.refusal('click', {})).status).toBe(422);
  });

  clientTest(
    `BROWSER-4 ${prefix} a selector finds what a closed shadow tree hides, without a snapshot`,
    async (client) => {
      await client.open(
        `<x-a></x-a><script>const a=document.querySelector('x-a').attachShadow({mode:'closed'});a.innerHTML='<div></div>';
        a.firstChild.attachShadow({mode:'closed'}).innerHTML='<button id=b onclick="document.title=1">go</button>'</script>`,
      );
      expect(await client.act('click', { selector: '#b', timeout: 3 })).toMatchObject({ title: '1' });
    },
  );
}
