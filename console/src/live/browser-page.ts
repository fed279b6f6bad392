/** The page at `#/browser`: the active tab as it changes, with clicks and typing, its elements and its requests. */
import type { BrowserTab, LiveEvent, Sandbox, SnapshotNode } from '../../../clients/typescript/src/index.ts';
import { element, keepingFocus } from '../elements.ts';
import { elementRows } from './element-tree.ts';
import { InputQueue } from './input-queue.ts';
import { LivePicture, type LiveActions, type Spot } from './live-picture.ts';
import { adoptLiveStyle } from './live-style.ts';
import { Panel } from './panel.ts';

interface Command {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The page asks again for what a picture does not say, at most so often, and only while pictures come. */
const refreshMs = 1500;
const typedRoles: ReadonlySet<string> = new Set(['searchbox', 'spinbutton', 'textbox']);
const mouseButtons = ['left', 'middle', 'right', 'back', 'forward'];

export class BrowserPage {
  readonly #live: LivePicture;
  readonly #tabs = element('ul', { class: 'tabs' });
  readonly #address = element('input', { type: 'text', placeholder: 'https://', label: 'Address' });
  readonly #elements = new Panel('Elements', () => this.#readElements());
  readonly #requests = new Panel('Network', () => this.#readRequests());
  readonly #input: InputQueue<Command>;
  #tabId: string | null = null;
  #shownTabs = '';
  #refresh: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {
    this.#input = new InputQueue(
      (commands) => this.#send(commands),
      merged,
      (error) => this.#say(error),
    );
    this.#live = new LivePicture({
      name: 'The active tab',
      pictures: (signal) => box.browser.live({}, { signal, retryMs: Number.POSITIVE_INFINITY }),
      actions: this.#actions(),
      onPicture: (picture) => this.#look(picture),
    });
  }

  async show(): Promise<void> {
    adoptLiveStyle();
    await this.box.orThrow.info();
    if (this.#isClosed) return;
    document.title = 'Browser';
    const history = (step: 'back' | 'forward' | 'reload', sign: string, label: string) =>
      element('button', { type: 'button', label, onClick: () => void this.#go({ history: step }) }, sign);
    const form = element(
      'form',
      {},
      history('back', '←', 'Back'),
      history('forward', '→', 'Forward'),
      history('reload', '↻', 'Reload'),
      this.#address,
      element('button', { type: 'submit' }, 'Go'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#go({ url: withScheme(this.#address.value) });
    });
    this.place.replaceChildren(
      element(
        'main',
        { class: 'live-page' },
        element(
          'header',
          {},
          element('h1', {}, 'Browser'),
          element('button', { onClick: () => this.#live.focus() }, 'Keyboard'),
        ),
        this.#tabs,
        form,
        element(
          'div',
          { class: 'columns' },
          this.#live.place,
          element('aside', {}, this.#elements.place, this.#requests.place),
        ),
      ),
    );
    this.#live.start();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#refresh);
    this.#live.close();
  }

  #actions(): LiveActions {
    const mouse = (type: string, { x, y }: Spot, event: MouseEvent, more: object = {}) =>
      this.#input.add({
        method: 'Input.dispatchMouseEvent',
        params: { type, x, y, modifiers: modifiersOf(event), buttons: event.buttons, ...more },
      });
    const press = (type: string, spot: Spot, event: MouseEvent) =>
      mouse(type, spot, event, { button: mouseButtons[event.button], clickCount: this.#clicks.of(type, spot, event) });
    return {
      move: (spot, event) => mouse('mouseMoved', spot, event),
      down: (spot, event) => press('mousePressed', spot, event),
      up: (spot, event) => press('mouseReleased', spot, event),
      wheel: ({ x, y }, by) =>
        this.#input.add({
          method: 'Input.dispatchMouseEvent',
          params: { type: 'mouseWheel', x, y, deltaX: by.x, deltaY: by.y },
        }),
      key: (event) => this.#input.add({ method: 'Input.dispatchKeyEvent', params: keyParams(event) }),
      text: (text) => this.#input.add({ method: 'Input.insertText', params: { text } }),
    };
  }

  readonly #clicks = new ClickCounter();

  async #send(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      const tab = this.#tabId === null ? {} : { tab_id: this.#tabId };
      await this.box.orThrow.browser.cdp({ ...command, ...tab });
    }
  }

  #look({ tabId }: Extract<LiveEvent, { readonly type: 'picture' }>): void {
    if (tabId !== this.#tabId) {
      this.#tabId = tabId;
      clearTimeout(this.#refresh);
      this.#refresh = undefined;
      void this.#readAgain();
    }
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.#readAgain();
    }, refreshMs);
  }

  async #readAgain(): Promise<void> {
    await this.#try(async () => {
      const { data: tabs } = await this.box.orThrow.browser.tabs();
      this.#showTabs(tabs);
    });
    await Promise.all([this.#elements.refresh(), this.#requests.refresh()]);
  }

  #showTabs(tabs: readonly BrowserTab[]): void {
    const shown = JSON.stringify(tabs);
    if (shown === this.#shownTabs || this.#isClosed) return;
    this.#shownTabs = shown;
    const active = tabs.find(({ active }) => active);
    document.title = active?.title ? `${active.title} - Browser` : 'Browser';
    if (active && document.activeElement !== this.#address) this.#address.value = active.url;
    const rows = tabs.toSorted((a, b) => a.index - b.index).map((tab) => this.#tabRow(tab));
    const more = element('li', {}, element('button', { label: 'New tab', onClick: () => void this.#openTab() }, '+'));
    keepingFocus(this.#tabs, () => this.#tabs.replaceChildren(...rows, more));
  }

  #tabRow({ target_id, title, url, active }: BrowserTab): HTMLElement {
    const name = title || url;
    const activate = () => void this.#try(() => this.box.orThrow.browser.activateTab({ target_id }));
    const close = () => void this.#change(() => this.box.orThrow.browser.closeTab({ target_id }));
    const button = element('button', { key: target_id, onClick: activate }, name);
    if (active) button.setAttribute('aria-current', 'true');
    return element('li', {}, button, element('button', { label: `Close ${name}`, onClick: close }, '×'));
  }

  async #openTab(): Promise<void> {
    await this.#change(() => this.box.orThrow.browser.openTab({}));
    this.#address.focus();
  }

  async #go(to: { readonly url: string } | { readonly history: 'back' | 'forward' | 'reload' }): Promise<void> {
    this.#address.blur();
    await this.#change(() => this.box.orThrow.browser.navigate({ ...to, wait_until: 'domcontentloaded' }));
  }

  async #change(action: () => Promise<unknown>): Promise<void> {
    await this.#try(action);
    await this.#readAgain();
  }

  async #readElements(): Promise<readonly HTMLElement[]> {
    const { data } = await this.box.orThrow.browser.snapshot({});
    return elementRows(data as SnapshotNode, (node) => void this.#click(node));
  }

  /** A field that has been clicked takes what the person types next. */
  async #click({ ref, role }: { readonly ref: string; readonly role: string }): Promise<void> {
    await this.#change(() => this.box.orThrow.browser.click({ ref }));
    if (typedRoles.has(role)) this.#live.focus();
  }

  async #readRequests(): Promise<readonly HTMLElement[]> {
    const { data } = await this.box.orThrow.browser.requests({ limit: 50 });
    return data
      .toReversed()
      .map(({ method, url, status, error, duration_ms: ms }) =>
        element(
          'li',
          {},
          element('span', {}, `${method} ${url}`),
          element(
            'span',
            { class: error === null && (status ?? 0) < 400 ? 'note' : 'wrong' },
            error ?? String(status ?? '…'),
          ),
          note(ms === null ? '' : `${ms} ms`),
        ),
      );
  }

  async #try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#say(error);
    }
  }

  #say(error: unknown): void {
    if (!this.#isClosed) this.#live.say(error instanceof Error ? error.message : String(error));
  }
}

function note(text: string): HTMLElement {
  return element('span', { class: 'note' }, text);
}

/** Movements and turns of the wheel that wait for their turn become one. */
function merged(earlier: Command, later: Command): Command | null {
  const [a, b] = [earlier.params, later.params];
  if (earlier.method !== later.method || a['type'] !== b['type']) return null;
  if (b['type'] === 'mouseMoved') return later;
  if (b['type'] !== 'mouseWheel') return null;
  const sum = (name: string) => Number(a[name]) + Number(b[name]);
  return { ...later, params: { ...b, deltaX: sum('deltaX'), deltaY: sum('deltaY') } };
}

/** Counts the clicks at one place, as a browser does: the second is a double click. */
class ClickCounter {
  #count = 0;
  #last = { atMs: 0, x: 0, y: 0, button: -1 };

  of(type: string, { x, y }: Spot, { button, timeStamp }: MouseEvent): number {
    if (type !== 'mousePressed') return this.#count;
    const { atMs, x: lastX, y: lastY, button: lastButton } = this.#last;
    const [withinMs, withinPixels] = [500, 5];
    const isNear = Math.hypot(x - lastX, y - lastY) <= withinPixels;
    const isSame = isNear && lastButton === button && timeStamp - atMs < withinMs;
    this.#count = isSame ? this.#count + 1 : 1;
    this.#last = { atMs: timeStamp, x, y, button };
    return this.#count;
  }
}

interface Modified {
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/** The bits of the DevTools protocol. */
function modifiersOf({ altKey, ctrlKey, metaKey, shiftKey }: Modified): number {
  return Number(altKey) + 2 * Number(ctrlKey) + 4 * Number(metaKey) + 8 * Number(shiftKey);
}

function keyParams(event: KeyboardEvent): Command['params'] {
  const { key, code, keyCode, repeat, location } = event;
  const isText = Array.from(key).length === 1 && !event.ctrlKey && !event.metaKey;
  const text = isText ? key : key === 'Enter' ? '\r' : '';
  const isDown = event.type === 'keydown';
  return {
    type: !isDown ? 'keyUp' : text === '' ? 'rawKeyDown' : 'keyDown',
    ...{ key, code, location, modifiers: modifiersOf(event), windowsVirtualKeyCode: keyCode },
    ...(isDown && { autoRepeat: repeat, text }),
  };
}

/** People leave out the scheme; this machine rarely has certificates. */
function withScheme(text: string): string {
  const address = text.trim();
  if (/^[a-z][a-z\d+.-]*:(?!\d)/i.test(address)) return address;
  const isLocal = /^(localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(address);
  return `${isLocal ? 'http' : 'https'}://${address}`;
}
