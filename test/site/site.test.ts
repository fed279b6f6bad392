/** The pages that `npm run site` has made of the documents: complete, linked, readable without scripts. */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { anchorsOf, sentenceOf, titleOf } from '../../tools/documents.mjs';
import { expectAccessible } from '../harness/accessibility.ts';
import { TestBrowser } from '../harness/browser.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const site = join(repositoryRoot, 'dist/site');
const pages = [...new Bun.Glob('**/*.html').scanSync(site)].map(read);
const documents = [...new Bun.Glob('docs/**/*.md').scanSync(repositoryRoot)];
const llms = readFileSync(join(site, 'llms.txt'), 'utf8');

let browser: TestBrowser;
/** Answers files alone, as any host of static files does. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch({ url }) {
    const file = Bun.file(join(site, decodeURIComponent(new URL(url).pathname)));
    return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 });
  },
});

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await server.stop(true);
});

const address = (path: string): string => new URL(`${path}.html`, server.url).href;

interface SitePage {
  readonly path: string;
  readonly ids: readonly string[];
  readonly links: readonly string[];
  readonly scripts: number;
}

function read(path: string): SitePage {
  const page = { path, ids: [] as string[], links: [] as string[], scripts: 0 };
  new HTMLRewriter()
    .on('[id]', { element: (element) => void page.ids.push(element.getAttribute('id') ?? '') })
    .on('[href]', { element: (element) => void page.links.push(element.getAttribute('href') ?? '') })
    .on('[src]', { element: (element) => void page.links.push(element.getAttribute('src') ?? '') })
    .on('script', { element: () => void (page.scripts += 1) })
    .transform(readFileSync(join(site, path), 'utf8'));
  return page;
}

/** What is wrong with a link of a page, or null. */
function brokenLink(page: SitePage, link: string): string | null {
  if (/^(?:https?|mailto):/.test(link)) return null;
  const [target = '', anchor] = link.split('#').map(decodeURIComponent);
  const path = target === '' ? page.path : posix.join(posix.dirname(page.path), target);
  if (!existsSync(join(site, path)) || path.endsWith('/')) return `${page.path}: ${link} leads nowhere`;
  const isThere = anchor === undefined || pages.find((other) => other.path === path)?.ids.includes(anchor);
  return isThere ? null : `${page.path}: ${link} names no heading`;
}

test('every link, picture and anchor of the site leads to a file of the site, and no page has a script', () => {
  expect(pages.length).toBeGreaterThan(documents.length);
  expect(pages.flatMap((page) => page.links.map((link) => brokenLink(page, link))).filter(Boolean)).toEqual([]);
  expect(brokenLink(pages[0]!, 'index.html#no-such-heading')).toContain('names no heading');
  expect(pages.filter(({ scripts }) => scripts > 0).map(({ path }) => path)).toEqual([]);
});

test('every document of docs/ is a page with the anchors that code hosts make', () => {
  const made = documents.map((path) => {
    const page = pages.find((other) => other.path === path.replace(/\.md$/, '.html'));
    return [path, page?.ids.filter((id) => id !== 'text')];
  });
  const wanted = documents.map((path) => [path, anchorsOf(readFileSync(join(repositoryRoot, path), 'utf8'))]);
  expect(made).toEqual(wanted);
});

test('llms.txt lists every document once, with its title and first sentence, and has the document beside it', () => {
  const entries = [...llms.matchAll(/^- \[(.+)\]\((\S+\.md)\): (.+)$/gm)].map(([, title, path, sentence]) => {
    const text = readFileSync(join(site, path ?? ''), 'utf8');
    expect([title, sentence]).toEqual([titleOf(text), sentenceOf(text)]);
    return path;
  });
  expect(entries.toSorted()).toEqual([...new Set(entries)].toSorted());
  expect(documents.filter((path) => !entries.includes(path))).toEqual([]);
});

test('a browser without JavaScript shows the text and leads from page to page', async () => {
  await using opened = await browser.open({ javaScriptEnabled: false });
  const { page } = opened;
  await page.goto(address('index'));
  await page.getByRole('heading', { name: 'boxkeep', level: 1 }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Commands from a shell' }).click();
  await page.getByRole('heading', { name: 'Commands from a shell', level: 1 }).waitFor();
  await page.getByText('boxkeep ps').first().waitFor();
  await page.getByRole('navigation').getByText('Protocols').click();
  await page.getByRole('link', { name: 'Command output as NDJSON' }).click();
  await page.getByRole('cell', { name: 'heartbeat' }).waitFor();
  expect(await page.locator('[aria-current=page]').textContent()).toBe('Command output as NDJSON');
});

for (const width of [1280, 390])
  test(`the text begins on the first screen and axe finds nothing, ${width} pixels wide`, async () => {
    await using opened = await browser.open({ viewport: { width, height: 800 } });
    for (const path of [
      'index',
      'docs/guide/exec',
      'docs/guide/index',
      'docs/decisions/index',
      'docs/reference/settings',
      'ARCHITECTURE',
    ]) {
      await opened.page.goto(address(path));
      await expectAccessible(opened.page);
      const box = await opened.page.getByRole('heading', { level: 1 }).boundingBox();
      expect(box?.y).toBeLessThan(500);
    }
  });
