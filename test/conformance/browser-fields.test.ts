/** What a client can rely on when it fills fields of a page and gives files to it, under both prefixes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { ActionClient, frameOf, pageHandlers, pathOf } from '../harness/action-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
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

/** A text box without an area, as an editor has it that draws its text elsewhere. */
const editContext =
  '<div id=f role=textbox tabindex=0 style="width:0;height:19px"></div><script>f.editContext = new EditContext();';

/** Field, value, and what the field holds afterwards. */
const fields: readonly (readonly [html: string, value: unknown, held: unknown])[] = [
  ['<input id=f value=old>', 'new ünï 😀', 'new ünï 😀'],
  ['<input id=f type=email>', 'a@b.example', 'a@b.example'],
  ['<input id=f type=number>', 12.5, '12.5'],
  ['<textarea id=f>old</textarea>', 'one\ntwo', 'one\ntwo'],
  ['<div id=f contenteditable>old</div>', 'one\ntwo', 'one\ntwo'],
  ['<div id=f contenteditable><p>x</p></div>', 'a\nb', 'a\nb'],
  ['<div id=f contenteditable><p>x</p><p>y</p></div>', ' a\n\n  b "c" (d) ', ' a\n\n  b "c" (d) '],
  ['<div id=f contenteditable=plaintext-only>old</div>', 'a\n\nb', 'a\n\nb'],
  ['<div id=f contenteditable><p>x</p></div>', '', ''],
  [`${editContext}f.editContext.updateText(0, 0, "old")</script>`, 'a\nb', 'a\nb'],
  ['<div id=f><div role=group><input value=old></div></div>', 'inner', 'inner'],
  ['<input id=f type=date>', '2026-01-31', '2026-01-31'],
  ['<input id=f type=time>', '13:45', '13:45'],
  ['<input id=f type=datetime-local>', '2026-01-31T13:45', '2026-01-31T13:45'],
  ['<input id=f type=month>', '2026-01', '2026-01'],
  ['<input id=f type=week>', '2026-W05', '2026-W05'],
  ['<input id=f type=color>', '#FF8800', '#ff8800'],
  ['<input id=f type=range>', 70, '70'],
  ['<input id=f type=checkbox>', true, true],
  ['<input id=f type=checkbox checked>', false, false],
  ['<input id=f type=radio>', true, true],
  ['<div id=f role=switch tabindex=0 aria-checked=false onclick="this.ariaChecked=true">s</div>', true, true],
  ['<select id=f><option value=1>One<option value=2>Two</select>', 'Two', '2'],
  ['<select id=f multiple><option>a<option>b<option>c</select>', ['a', 'c'], ['a', 'c']],
  ['<input id=f value=old>', '', ''],
];

for (const prefix of ['/v1', '/v2']) {
  const clientTest = (title: string, body: (client: ActionClient, sandbox: Sandbox) => Promise<void>) =>
    test(title, async ({ sandbox }) => await body(new ActionClient(sandbox, prefix, site), sandbox), options);

  clientTest(
    `BROWSER-1 BROWSER-5 ${prefix} fill sets fields of every type and reports what they hold`,
    async (client) => {
      for (const [html, value, held] of fields) {
        await client.open(html);
        expect([html, await client.act('fill', { selector: '#f', value })]).toMatchObject([
          html,
          { value: held, matches: true },
        ]);
      }
      await client.open('<label>Secret <input type=password></label>');
      const filled = await client.act('fill', { ref: await client.ref({ name: 'Secret' }), text: 'hunter2' });
      expect([filled.matches, JSON.stringify(filled).includes('hunter2')]).toEqual([true, false]);
      expect(await client.value('document.querySelector("input").value')).toBe('hunter2');
    },
  );

  clientTest(
    `BROWSER-5 BROWSER-10 ${prefix} the value of an editor has a line for each of its blocks`,
    async (client) => {
      await client.open('<div contenteditable role=textbox><p>one</p><p>two <b>three</b></p></div>');
      const { matches } = await client.act('snapshot', { find: { role: 'textbox' } });
      expect(matches).toMatchObject([{ value: 'one\ntwo three' }]);
    },
  );

  clientTest(`BROWSER-5 ${prefix} fill refuses what a field does not take, and says why`, async (client) => {
    for (const [html, value, why] of [
      ['<input id=f readonly>', 'x', 'is read-only'],
      ['<input id=f maxlength=2>', 'abc', 'takes at most 2 characters, and the value has 3'],
      ['<input id=f type=date>', '31.1.2026', 'takes a date such as 2026-01-31'],
      ['<select id=f><option>a</select>', 'b', 'has no option "b": its options are "a"'],
      ['<p id=f>text</p>', 'x', 'is not a field that takes a value'],
    ]) {
      await client.open(html ?? '');
      const { status, body } = await client.refusal('fill', { selector: '#f', value });
      expect([status, body.message]).toEqual([400, expect.stringContaining(`selector "#f" (<`)]);
      expect(body.message).toEndWith(why ?? '');
    }
    await client.open('<input id=f disabled>');
    const late = await client.refusal('fill', { selector: '#f', value: 'x', timeout: 0.4 });
    expect([late.status, late.body.message]).toEqual([504, expect.stringContaining('is still disabled after 0.4 s')]);
    await client.open('<input id=f oninput="this.value=this.value.toUpperCase()">');
    expect(await client.act('fill', { selector: '#f', value: 'abc' })).toMatchObject({ value: 'ABC', matches: false });
  });

  clientTest(
    `BROWSER-5 ${prefix} fill reaches frames of other origins, shadow trees and script-driven fields`,
    async (client) => {
      const input = (name: string) => `<label>${name} <input oninput="document.title=this.value"></label>`;
      await client.open(
        `<x-s></x-s><script>document.querySelector('x-s').attachShadow({mode:'closed'}).innerHTML=${JSON.stringify(input('shadow'))}</script>` +
          frameOf(site.otherUrl(pathOf(input('foreign'))), 'margin-top:2000px') +
          `<label>react <input id=r></label><script>
          { const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
            let last = ''; Object.defineProperty(r, 'value', { get: () => own.get.call(r), set: (v) => { last = v; own.set.call(r, v) } });
            r.oninput = () => { if (own.get.call(r) !== last) document.title = last = own.get.call(r) } }</script>`,
      );
      for (const name of ['shadow', 'foreign', 'react']) {
        const ref = await client.ref({ role: 'textbox', name });
        expect(await client.act('fill', { ref, value: `to ${name}` })).toMatchObject({
          value: `to ${name}`,
          matches: true,
        });
      }
      expect(await client.value('document.title')).toBe('to react');
    },
  );

  clientTest(
    `BROWSER-7 ${prefix} upload gives files to an input, its label, or the button that opens a chooser`,
    async (client, sandbox) => {
      const paths = ['a.txt', 'b.txt'].map((name) => join(sandbox.directory, name));
      for (const path of paths) writeFileSync(path, 'hello');
      const [first] = paths;
      await client.open(
        '<label>Files <input type=file id=f multiple hidden></label><script>f.onchange=()=>document.title=f.files.length</script>',
      );
      const files = [
        { name: 'a.txt', size: 5 },
        { name: 'b.txt', size: 5 },
      ];
      expect(await client.act('upload', { selector: '#f', paths })).toMatchObject({ files, title: '2' });
      expect(await client.act('upload', { selector: 'label', files: [first] })).toMatchObject({
        files: files.slice(0, 1),
        title: '1',
      });
      await client.open(
        '<button id=b>Choose</button><script>b.onclick=()=>{const f=document.createElement("input");f.type="file";f.onchange=async()=>document.title=await f.files[0].text();f.click()}</script>',
      );
      expect(await client.act('upload', { ref: await client.ref({ name: 'Choose' }), paths: [first] })).toMatchObject({
        files: files.slice(0, 1),
      });
      await until('the page has read the file', async () => (await client.value('document.title')) === 'hello');
    },
  );

  clientTest(
    `BROWSER-7 ${prefix} two uploads at once reach each the chooser of its button`,
    async (client, sandbox) => {
      const names = ['first', 'second'];
      const paths = names.map((name) => join(sandbox.directory, name));
      for (const path of paths) writeFileSync(path, '');
      const button = (name: string) => `<button id=${name} onclick="choose('${name}')">${name}</button>`;
      await client.open(
        names.map(button).join('') +
          `<script>const got={};function choose(name){const f=document.createElement("input");f.type="file";
          f.onchange=()=>got[name]=f.files[0].name;setTimeout(()=>f.click(),200)}</script>`,
      );
      const given = await Promise.all(
        names.map((name, index) => client.act('upload', { selector: `#${name}`, paths: [paths[index]] })),
      );
      expect(given).toMatchObject(names.map((name) => ({ files: [{ name }] })));
      await until('the page has both', async () => (await client.value('Object.keys(got).length')) === 2);
      expect(await client.value('got')).toEqual({ first: 'first', second: 'second' });
    },
  );

  clientTest(
    `BROWSER-7 ${prefix} upload refuses missing files, too many files and other elements`,
    async (client, sandbox) => {
      const file = join(sandbox.directory, 'a.txt');
      writeFileSync(file, 'hello');
      const folder = join(sandbox.directory, 'folder');
      mkdirSync(folder);
      writeFileSync(join(folder, 'b.txt'), 'hello');
      await client.open('<input type=file id=f><input type=file id=d webkitdirectory><button id=b>None</button>');
      const refusal = async (body: object) => {
        const { status, body: answer } = await client.refusal('upload', body);
        return [status, answer.message];
      };
      expect(await refusal({ selector: '#f', paths: [`${file}.none`] })).toEqual([
        400,
        `the file ${file}.none does not exist`,
      ]);
      expect(await refusal({ selector: '#f', paths: [file, file] })).toEqual([
        400,
        'selector "#f" (<input id="f" type="file">) takes one file, and 2 were given',
      ]);
      expect(await refusal({ selector: '#f', paths: [folder] })).toMatchObject([
        400,
        expect.stringContaining('is a directory'),
      ]);
      expect(await refusal({ selector: '#d', paths: [file] })).toMatchObject([
        400,
        expect.stringContaining('is a file'),
      ]);
      expect(await refusal({ selector: '#b', paths: [file] })).toMatchObject([
        400,
        expect.stringContaining('opened no file chooser'),
      ]);
      expect((await refusal({ selector: '#f', paths: [] }))[0]).toBe(422);
      expect(await client.act('upload', { selector: '#d', paths: [folder] })).toMatchObject({
        files: [{ name: 'b.txt' }],
      });
    },
  );
}

test(
  'BROWSER-5 a text of 8 MiB is filled within its time',
  async ({ sandbox }) => {
    const client = new ActionClient(sandbox, '/v2', site);
    const value = `${'x'.repeat(127)}\n`.repeat(64 * 1024);
    for (const html of ['<textarea id=f></textarea>', '<div id=f contenteditable>x</div>']) {
      await client.open(html);
      const filled = await client.act('fill', { selector: '#f', value, timeout: 50 });
      expect([html, filled]).toMatchObject([html, { length: value.length, matches: true }]);
    }
  },
  { ...options, timeoutMs: 120_000 },
);
