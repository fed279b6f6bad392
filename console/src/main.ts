/** The console page: terminals at `/`, one of them at `/#/terminal/<id>`. */
import { DaemonClient, Refusal } from './daemon.ts';
import { element } from './elements.ts';
import { HomePage } from './home-page.ts';
import { Key } from './key.ts';
import { askForKey } from './key-form.ts';
import { TerminalPage } from './terminal-page.ts';

/** What is shown at an address. */
interface Page {
  /** Resolves when it is shown; throws a `Refusal` when the daemon does not let it. */
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
    await page.show();
  } catch (error) {
    if (shown === page) tell(error);
  }
}

function pageAt(hash: string): Page {
  const id = terminalAddress.exec(hash)?.[1];
  return id === undefined
    ? new HomePage(daemon, document.body)
    : new TerminalPage(daemon, document.body, decodeURIComponent(id));
}

function tell(error: unknown): void {
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
      element('h1', {}, 'sandboxd'),
      element('p', { class: 'wrong' }, message),
      ...(error instanceof Refusal && error.hint ? [element('p', {}, error.hint)] : []),
      element('p', {}, element('a', { href: '#' }, 'All terminals')),
    ),
  );
}
