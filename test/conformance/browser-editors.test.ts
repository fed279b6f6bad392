/** What a client can rely on when it fills the editors that web applications use. */
import { afterAll, beforeAll, describe } from 'bun:test';
import { ActionClient } from '../harness/action-client.ts';
import { Chromium } from '../harness/chromium.ts';
import { editorPage } from '../harness/bundled-page.ts';
import { needPackages } from '../harness/interpreters.ts';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  needPackages('editors');
  chromium = await Chromium.start('--site-per-process');
  site = startSite({
    '/editor': async ({ searchParams }) =>
      new Response(await editorPage(searchParams.get('name') ?? ''), {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }),
  });
}, 120_000);

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

const options = { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }), timeoutMs: 60_000 };

/** The page, and selectors of the field and of an element around the field. */
const editors: readonly (readonly [title: string, page: string, field: string, around: string])[] = [
  ['CodeMirror 5', 'codemirror5', '.CodeMirror textarea', '.CodeMirror'],
  ['CodeMirror 6', 'codemirror6', '.cm-content', '.cm-editor'],
  ['Lexical', 'lexical', '#host', '#host'],
  ['Monaco', 'monaco', '.native-edit-context', '.monaco-editor'],
  ['Monaco with a text area', 'monaco&textarea', 'textarea.inputarea', '.monaco-editor'],
  ['ProseMirror', 'prosemirror', '.ProseMirror', '#host'],
  ['Quill', 'quill', '.ql-editor', '#host'],
  ['Slate', 'slate', '#editable', '#host'],
  ['TinyMCE', 'tinymce', '#tinymce', '#tinymce'],
  ['Trix', 'trix', 'trix-editor', '#host'],
];

const texts = [
  'function f(a) {\n\tif (a["x"]) {\n    return \'ü😀漢\';\n  }\n}',
  'one\n\nthree',
  'say "hi" (you) [x] {y} `z`',
  '  indented\n\n\n',
  '1. one\n2. two\n# head\n- dash',
  'a',
];

async function openEditor(sandbox: Sandbox, name: string): Promise<ActionClient> {
  const client = new ActionClient(sandbox, '/v2', site);
  await client.act('navigate', { url: site.url(`/editor?name=${name}`) });
  await until('the editor is there', async () => (await client.value('Boolean(globalThis.editor)')) === true);
  return client;
}

describe.each(editors)('%s', (_title, page, selector, around) => {
  const model = async (client: ActionClient): Promise<Json> => await client.value('editor.text()');

  test(
    `BROWSER-5 fill replaces what ${_title} holds, exactly, and undo brings it back`,
    async ({ sandbox }) => {
      const client = await openEditor(sandbox, page);
      const before = await model(client);
      // HTML has no tab, so TinyMCE makes spaces of it.
      for (const value of texts.filter((text) => page !== 'tinymce' || !text.includes('\t'))) {
        const filled = await client.act('fill', { selector, value });
        expect([await model(client), filled]).toMatchObject([value, { value, matches: true }]);
      }
      const emptied = await client.act('fill', { selector, value: '' });
      expect([await model(client), emptied]).toMatchObject(['', { value: '', matches: true }]);
      await client.act('fill', { selector: around, value: 'last\nline' });
      expect(await model(client)).toBe('last\nline');
      const isBack = async () => (await client.value('(editor.undo(), editor.text())')) === before;
      await until('undo has brought back the first text', isBack);
    },
    options,
  );

  test(
    `BROWSER-5 a ref of a snapshot fills ${_title} with 300 lines, and the answer tells the truth`,
    async ({ sandbox }) => {
      const client = await openEditor(sandbox, page);
      await client.click({ role: 'textbox' });
      const value = Array.from({ length: 300 }, (_, line) => `line ${line} ("${'x'.repeat(line % 40)}")`).join('\n');
      const filled = await client.act('fill', { ref: await client.ref({ role: 'textbox' }), value, timeout: 30 });
      expect(await model(client)).toBe(value);
      expect(filled).toMatchObject({ length: value.length, matches: true });
    },
    options,
  );
});
