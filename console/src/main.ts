/** The console page: the sandbox at `/`, its activity at `/#/activity`, a terminal at `/#/terminal/<id>`, a command at `/#/command/<id>`, live pictures at `/#/browser` and `/#/desktop`. */
import { BoxError, Sandbox } from '../../clients/typescript/src/index.ts';
import { ActivityPage } from './activity-page.ts';
import { BrowserPage } from './browser-page.ts';
import { CommandPage } from './command-page.ts';
import { DesktopPage } from './desktop-page.ts';
import { element } from './elements.ts';
import { hintForPerson } from './hint.ts';
import { HomePage } from './home-page.ts';
import { Key } from './key.ts';
import { askForKey } from './key-form.ts';
import { TerminalPage } from './terminal-page.ts';

/** The page for an address. */
interface Page {
  /** Resolves when the page is shown. Throws a `BoxError` when the daemon refuses a request. */
  show(): Promise<void>;
  close(): void;
}

const address = /^#\/(activity|browser|command|desktop|terminal)(?:\/([^/?]+))?/;

const key = new Key();
key.takeFromAddress();
let shown: Page | null = null;
addEventListener('hashchange', () => void open());
void open();

async function open(): Promise<void> {
  shown?.close();
  shown = null;
  document.body.replaceChildren();
  let page: Page | null = null;
  try {
    page = pageAt(location.hash);
    shown = page;
    if (page === null) throw new Error('This address names nothing.');
    await page.show();
  } catch (error) {
    if (shown === page) report(error);
  }
}

/** Null for a name that cannot be decoded. */
function pageAt(hash: string): Page | null {
  const [, view, name = ''] = address.exec(hash) ?? [];
  // The daemon may be behind a path prefix of a gateway. A person sees that it is away, and does not wait for it.
  const box = new Sandbox(new URL('.', location.href).href, { key: key.value, retryMs: 0 });
  if (view === 'browser') return new BrowserPage(box, document.body);
  if (view === 'desktop') return new DesktopPage(box, document.body);
  if (name === '') return view === 'activity' ? new ActivityPage(box, document.body) : new HomePage(box, document.body);
  try {
    const id = decodeURIComponent(name);
    return view === 'command' ? new CommandPage(box, document.body, id) : new TerminalPage(box, document.body, id);
  } catch {
    return null; // URIError: a stray percent sign.
  }
}

function report(error: unknown): void {
  if (error instanceof BoxError && error.code === 'unauthorized') {
    askForKey(document.body, key.value !== null, (given) => {
      key.value = given;
      void open();
    });
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof BoxError && error.hint !== null ? hintForPerson(error.hint) : null;
  document.body.replaceChildren(
    element(
      'main',
      { class: 'home' },
      element('h1', {}, 'boxkeep'),
      element('p', { class: 'wrong' }, message),
      ...(hint === null ? [] : [element('p', {}, hint)]),
      element('p', {}, element('a', { href: '#' }, 'Home')),
    ),
  );
}
