/** The page at `#/watch/<path>`: changes of a file, or below a directory, as they happen, the newest first. */
import type { FileChange, Sandbox, Throwing, Watch, WatchEvent } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { reasonOf } from '../frame/hint.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { fetchWhenSeen } from '../frame/while-seen.ts';
import { sizeOf } from './transfers.ts';

const maxRows = 1000;
const names = {
  create: 'created',
  write: 'written',
  remove: 'removed',
  rename: 'renamed',
  chmod: 'other mode',
} as const satisfies Record<WatchEvent['type'], string>;

export class WatchPage implements Page {
  readonly #rows = element('ol');
  readonly #state = element('p', { class: 'note' });
  readonly #search = element('input', { type: 'search', placeholder: 'Filter', label: 'Filter' });
  readonly #closing = new AbortController();
  /** A page that goes away releases its watcher. The browser may bring the page back. */
  readonly #onHide = () => void this.#watch?.stop();
  readonly #onShow = ({ persisted }: PageTransitionEvent) => persisted && void this.#follow();
  #isWaiting = false;
  #watch: Throwing<Watch> | null = null;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private path: string,
  ) {
    this.#state.setAttribute('role', 'status');
    this.#search.addEventListener('input', () => {
      for (const row of this.#rows.children) this.#sift(row as HTMLElement);
    });
  }

  async show(): Promise<void> {
    const { workspace_dir: workspace } = (await this.box.orThrow.info()).data;
    this.path = (await this.box.orThrow.files.stat(this.path || workspace)).data.path;
    if (this.#closing.signal.aborted) return;
    document.title = `Changes of ${this.path}`;
    const files = element('a', { href: addressOf('files', this.path) }, element('bdi', {}, this.path));
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'Changes of ', files), this.#search),
        this.#state,
        element('div', { class: 'activity' }, this.#rows),
      ),
    );
    addEventListener('pagehide', this.#onHide);
    addEventListener('pageshow', this.#onShow);
    void this.#follow();
  }

  close(): void {
    removeEventListener('pagehide', this.#onHide);
    removeEventListener('pageshow', this.#onShow);
    void this.#watch?.stop();
    this.#closing.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const options = { signal, retryMs: Number.POSITIVE_INFINITY, fetch: fetchWhenSeen };
      const onAway = (error: Error) => void this.#wait(error);
      const watch = (this.#watch = await this.box.orThrow.files.watch(this.path, {}, { ...options, onAway }));
      if (signal.aborted) return await watch.stop();
      this.#say('Watching. Changes from now on are below.');
      for await (const change of watch) this.#add(change);
      if (!signal.aborted) this.#say(`${this.path} is gone.`);
    } catch (error) {
      if (!signal.aborted) this.#say(reasonOf(error));
    }
  }

  /** The next change may come much later than the daemon, so the page asks when the daemon is back. */
  async #wait({ message }: Error): Promise<void> {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#say(`${message}; trying again`);
    const { signal } = this.#closing;
    try {
      const options = { signal, retryMs: Number.POSITIVE_INFINITY, fetch: fetchWhenSeen };
      const ready = await this.box.waitUntilReady(options);
      if (ready.ok) this.#say('Watching.');
    } catch {
      // The page is closed.
    } finally {
      this.#isWaiting = false;
    }
  }

  #add(change: FileChange): void {
    const row = change.type === 'lost' ? gap() : rowOf(change);
    this.#sift(row);
    this.#rows.prepend(row);
    while (this.#rows.childElementCount > maxRows) this.#rows.lastElementChild?.remove();
  }

  #sift(row: HTMLElement): void {
    row.hidden = !row.textContent.toLowerCase().includes(this.#search.value.toLowerCase());
  }

  #say(text: string): void {
    this.#state.textContent = text;
  }
}

function gap(): HTMLElement {
  const reason = 'Changes may be missing here: they came too fast, or the daemon was started again.';
  return element('li', { class: 'wrong' }, reason);
}

function rowOf({ type, path, relative_path: shown, old_path: old, size, is_dir, timestamp }: WatchEvent): HTMLElement {
  const name = element('bdi', {}, is_dir ? `${shown}/` : shown);
  const place = type === 'remove' ? name : element('a', { href: addressOf('files', path) }, name);
  const former = old === null ? [] : [' from ', element('bdi', {}, old)];
  return element(
    'li',
    {},
    element('time', {}, new Date(timestamp * 1000).toLocaleTimeString()),
    element('span', {}, place, ...former),
    element('span', { class: 'note' }, names[type]),
    element('span', { class: 'note' }, is_dir || size === null ? '' : sizeOf(size)),
  );
}
