/** The console page: opens the view that the address names, such as `/#/terminal/<id>`, below the navigation. */
import { BoxError, Sandbox, type Fetch } from '../../clients/typescript/src/index.ts';
import { ActivityPage } from './activity-page.ts';
import { CodePage } from './code/code-page.ts';
import { CommandPage } from './commands/command-page.ts';
import { CommandsPage } from './commands/commands-page.ts';
import { element } from './elements.ts';
import { FilesPage } from './files/files-page.ts';
import { WatchPage } from './files/watch-page.ts';
import { ApiPage } from './forms/api-page.ts';
import { McpPage } from './forms/mcp-page.ts';
import { bar, markCurrent } from './frame/bar.ts';
import { capabilityNote } from './frame/capability-note.ts';
import { hintForPerson } from './frame/hint.ts';
import { Key } from './frame/key.ts';
import { askForKey } from './frame/key-form.ts';
import { loadView } from './frame/loaded-view.ts';
import { Palette } from './frame/palette.ts';
import type { Page, View } from './frame/view.ts';
import { HomePage } from './home-page.ts';
import { BrowserPage } from './live/browser-page.ts';
import { DesktopPage } from './live/desktop-page.ts';
import { OverviewPage } from './overview/overview-page.ts';
import type { TerminalPage } from './terminal/terminal-page.ts';

/** By the word in the address, in the order of the navigation. */
const views: Readonly<Record<string, View>> = {
  '': { title: 'Home', open: (box, place) => new HomePage(box, place) },
  overview: { title: 'Overview', open: (box, place) => new OverviewPage(box, place) },
  activity: { title: 'Activity', open: (box, place) => new ActivityPage(box, place) },
  commands: { title: 'Commands', open: (box, place) => new CommandsPage(box, place) },
  files: { title: 'Files', open: (box, place, path) => new FilesPage(box, place, path) },
  watch: { title: 'Changes', open: (box, place, path) => new WatchPage(box, place, path) },
  code: { title: 'Code', capability: 'code_interpreter', open: (box, place, id) => new CodePage(box, place, id) },
  browser: { title: 'Browser', capability: 'browser', open: (box, place) => new BrowserPage(box, place) },
  desktop: { title: 'Desktop', capability: 'computer', open: (box, place) => new DesktopPage(box, place) },
  mcp: { title: 'MCP', open: (box, place, tool) => new McpPage(box, place, tool) },
  api: { title: 'API', open: (box, place, operation) => new ApiPage(box, place, operation) },
  command: { open: (box, place, id) => new CommandPage(box, place, id) },
  terminal: {
    async open(box, place, id) {
      const Loaded = await loadView<typeof TerminalPage>(box, 'terminal');
      return new Loaded(box, place, id);
    },
  },
};

const address = /^(?:#?\/?|#\/([a-z]+)(?:\/(.*))?)$/;

const key = new Key();
key.takeFromAddress();
// The daemon may be behind a path prefix of a gateway. A person sees that it is away, and does not wait for it.
const sandbox = () => new Sandbox(new URL('.', location.href).href, { key: key.value, retryMs: 0, fetch: outliving });
/** What a page ends when the page goes away, such as a watcher, is ended also after that. */
const outliving: Fetch = (url, init) => fetch(url, { ...init, keepalive: init.method === 'DELETE' });
const palette = new Palette(views, sandbox);
const nav = bar(views, () => palette.open());
const note = element('div');
const place = element('div', { class: 'view' });
document.body.append(nav, note, place);
let shown: { readonly name: string; readonly page: Page } | null = null;
let opened = 0;
addEventListener('hashchange', () => void open());
void open();

async function open(): Promise<void> {
  const turn = ++opened;
  try {
    const [name, view, rest] = namedBy(location.hash);
    if (shown?.name === name && shown.page.goTo) return await shown.page.goTo(rest);
    close();
    await openView(turn, name, view, rest);
  } catch (error) {
    if (turn === opened) report(error);
  }
}

function close(): void {
  shown?.page.close();
  shown = null;
  for (const part of [note, place]) part.replaceChildren();
}

/** A person may open another view while this one waits for the daemon. */
async function openView(turn: number, name: string, view: View, rest: string): Promise<void> {
  markCurrent(nav, name);
  const box = sandbox();
  const page = await view.open(box, place, rest);
  if (turn !== opened) return page.close();
  shown = { name, page };
  await page.show();
  const found = await capabilityNote(box, view);
  if (turn === opened) note.replaceChildren(found);
}

/** Throws for an address that names no view, or has a stray percent sign. */
function namedBy(hash: string): [name: string, view: View, rest: string] {
  const [found, name = '', rest = ''] = address.exec(hash) ?? [];
  const view = Object.hasOwn(views, name) ? views[name] : undefined;
  const decoded = decodable(rest);
  if (found === undefined || view === undefined || decoded === null) throw new Error('This address names nothing.');
  return [name, view, decoded];
}

function decodable(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // URIError: a stray percent sign.
  }
}

function report(error: unknown): void {
  close();
  if (error instanceof BoxError && error.code === 'unauthorized') {
    askForKey(place, key.value !== null, (given) => {
      key.value = given;
      void open();
    });
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof BoxError && error.hint !== null ? hintForPerson(error.hint) : null;
  place.replaceChildren(
    element(
      'main',
      { class: 'home' },
      element('h1', {}, 'boxkeep'),
      element('p', { class: 'wrong' }, message),
      ...(hint === null ? [] : [element('p', {}, hint)]),
    ),
  );
}
