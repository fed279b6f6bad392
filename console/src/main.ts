/** The console page: all terminals at `/`, one terminal at `/#/terminal/<id>`. */
import { DaemonClient, Refusal } from './daemon.ts';
import { element } from './elements.ts';
import { HomePage } from './home-page.ts';
import { Key } from './key.ts';
import { askForKey } from './key-form.ts';
import { TerminalPage } from './terminal-page.ts';

/** The page for an address. */
interface Page {
  /** Resolves when the page is shown. Throws a `Refusal` when the daemon refuses a request. */
  show(): Promise<void>;
  close(): void;
}

const terminalAddress = /^#\/terminal\/([^/?]+)/;

const key = new Key();
key.takeFromAddress();
const daemon = new DaemonClient(key);
let shown: Page | null = null;
addEventListener('hashchange', () => void open());
void open();

async function open(): Promise<void> {
  shown?.close();
  document.body.replaceChildren();
  const page = pageAt(location.hash);
  shown = page;
  try {
    if (page === null) throw new Error('This address names no terminal.');
    await page.show();
  } catch (error) {
    if (shown === page) report(error);
  }
}

/** Null for a terminal whose name cannot be decoded. */
function pageAt(hash: string): Page | null {
  const name = terminalAddress.exec(hash)?.[1];
  if (name === undefined) return new HomePage(daemon, document.body);
  try {
    return new TerminalPage(daemon, document.body, decodeURIComponent(name));
  } catch {
    return null; // URIError: a stray percent sign.
  }
}

function report(error: unknown): void {
  if (error instanceof Refusal && error.status === 401) {
    askForKey(document.body, key.value !== null, (given) => {
      key.value = given;
      void open();
    });
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  document.body.replaceChildren(
    element(
      'main',
      { class: 'home' },
      element('h1', {}, 'boxkeep'),
      element('p', { class: 'wrong' }, message),
      ...(error instanceof Refusal && error.hint ? [element('p', {}, error.hint)] : []),
      element('p', {}, element('a', { href: '#' }, 'All terminals')),
    ),
  );
}
