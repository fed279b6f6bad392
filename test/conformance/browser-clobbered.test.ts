/** What a client can rely on where the controls of a page have names that hide the properties of nodes. */
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { SnapshotClient, withoutRefs } from '../harness/snapshot-client.ts';

let chromium: Chromium;
let site: Site;

/** As many as the text of one snapshot has room for. */
const namesPerPage = 40;

/** Forms as the scripts treat them differently: by their tag, with content that is edited, and in the name of another node. */
const formsOf = (name: string, id: number) => `
  <div><input form=f${id} name=${name} aria-label=Before><form id=f${id} aria-label=Form tabindex=-1>
    <input name=a aria-label=A><input name=${name} aria-label=B><input name=z aria-label=Z><button>Go</button></form>
    <p>After</div>
  <form title=Editor contenteditable>Edited <i>text</i><input name=${name}></form>
  <form role=slider tabindex=0 title=Slider><input name=${name}></form>
  <form role=button tabindex=0>Press<input name=${name} aria-label=C></form>
  <form onclick="1">Listens<img name=${name} alt=Picture></form>
  <form role=presentation tabindex=0><fieldset name=${name}><legend>Legend</legend></fieldset></form>
  <form aria-hidden=true>Hidden<input name=${name}></form>
  <form id=n${id}>Naming <b>text</b><input name=${name} value=D></form><nav aria-labelledby=n${id}>Named</nav>
  <div contenteditable aria-label=Note>one<form>two<input name=${name}></form>three</div>`;

const imageOf = (name: string) => `<img name=${name} alt=Image>`;

const page = (items: string) =>
  new Response(
    `<!doctype html><title>Names</title><main>${items}</main><a href=#>Last</a><input aria-label=F autofocus>`,
    {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    },
  );

const namesIn = ({ searchParams }: URL) => searchParams.get('names')!.split(',');

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({
    '/forms': (url) => page(namesIn(url).map(formsOf).join('')),
    '/images': (url) => page(namesIn(url).map(imageOf).join('')),
  });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) };

for (const [path, subject, holder] of [
  ['/forms', 'forms', /^(HTML\w*Element|ShadowRoot|Text)$/],
  ['/images', 'the document', /^HTMLDocument$/],
] as const) {
  test(
    `BROWSER-10 a snapshot of a page is complete where names in it hide properties of ${subject}`,
    async ({ sandbox }) => {
      const client = new SnapshotClient(sandbox, '/v2');
      const linesWith = async (names: readonly string[]) => {
        await client.navigate(site.url(`${path}?names=${names.join(',')}`));
        return withoutRefs(await client.text());
      };
      await client.navigate(site.url('/plain'));
      const names = (await client.evaluate(`(() => {
        const names = new Set();
        for (const own of Object.getOwnPropertyNames(window).filter((name) => ${holder}.test(name)))
          for (let at = window[own].prototype; at; at = Object.getPrototypeOf(at))
            for (const name of Object.getOwnPropertyNames(at)) names.add(name);
        return [...names];
      })()`)) as unknown as string[];
      expect(names.length).toBeGreaterThan(300);
      for (let start = 0; start < names.length; start += namesPerPage) {
        const group = names.slice(start, start + namesPerPage);
        const expected = await linesWith(group.map((_, index) => `harmless${index}`));
        expect(expected.at(-1)).toContain('textbox "F"');
        expect({ group, lines: await linesWith(group) }).toEqual({ group, lines: expected });
      }
    },
    options,
  );
}
