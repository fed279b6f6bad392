/** Shows one terminal that fills the window: `#/terminal/<id>`, and `#/terminal/<id>/watch` for reading only. */
import { FitAddon } from '@xterm/addon-fit';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal } from '@xterm/xterm';
import type { Sandbox, Terminal as AttachedTerminal, TerminalEvent } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { provideView } from '../frame/loaded-view.ts';
import { nameOf } from '../frame/terminal-name.ts';
import { addressOf } from '../frame/view.ts';
import { KeyBar } from './key-bar.ts';
import { SearchBar } from './search-bar.ts';
import { styleThroughObjects } from './styled-document.ts';
import { keepTextSize, keptTextSize } from './text-size.ts';

interface Size {
  readonly cols: number;
  readonly rows: number;
}

const watching = '/watch';

export class TerminalPage {
  readonly #id: string;
  /** A person who only watches types nothing, and leaves the size to the others. */
  readonly #isReadOnly: boolean;
  readonly #name = element('h1', { class: 'name' });
  readonly #state = element('span', { class: 'state' }, 'connecting');
  readonly #screen = element('div', { class: 'screen' });
  readonly #terminal = new Terminal({
    allowProposedApi: true, // Needed for current Unicode character widths.
    cursorBlink: true,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    fontSize: keptTextSize(),
    // At 1 the rows cut off the underscore of DejaVu Sans Mono. From 1.2 on, box drawings have gaps.
    lineHeight: 1.1,
    scrollback: 10_000,
    theme: { background: '#14181f', foreground: '#d8dee8' },
  });
  readonly #fit = new FitAddon();
  readonly #keys = new KeyBar(this.#terminal);
  readonly #search = new SearchBar(this.#terminal);
  readonly #resized = new ResizeObserver(() => this.#resize());
  readonly #closing = new AbortController();
  #attached: AttachedTerminal | null = null;
  #called = '';
  #endStyle: (() => void) | null = null;
  #size: Size = this.#terminal;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    name: string,
  ) {
    this.#isReadOnly = name.endsWith(watching);
    this.#id = this.#isReadOnly ? name.slice(0, -watching.length) : name;
  }

  async show(): Promise<void> {
    // Asked before anything is drawn, because a refusal replaces the page.
    this.#called = nameOf((await this.box.orThrow.terminals.get(this.#id)).data);
    if (this.#closing.signal.aborted) return;
    this.#nameIt(null);
    const keys = this.#isReadOnly ? [] : [this.#keys.place];
    const parts = [this.#header(), this.#search.place, this.#screen, ...keys];
    this.place.replaceChildren(element('main', { class: 'terminal-page' }, ...parts));
    this.#open();
    void this.#follow();
  }

  close(): void {
    this.#closing.abort();
    this.#resized.disconnect();
    this.#attached?.detach();
    this.#terminal.dispose();
    this.#endStyle?.();
  }

  #header(): HTMLElement {
    const button = (name: string, onClick: () => void) => element('button', { type: 'button', onClick }, name);
    const [other, name] = this.#isReadOnly ? ['', 'Type here'] : [watching, 'Watch only'];
    this.#state.setAttribute('role', 'status');
    return element(
      'header',
      {},
      element('a', { href: '#' }, 'All terminals'),
      this.#name,
      this.#state,
      element('a', { href: addressOf('terminal', `${this.#id}${other}`) }, name),
      button('Text −', () => this.#setTextSize(-1)),
      button('Text +', () => this.#setTextSize(1)),
      button('Search', () => this.#search.open()),
    );
  }

  #open(): void {
    const terminal = this.#terminal;
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = '11';
    this.#endStyle = styleThroughObjects();
    terminal.open(this.#screen);
    terminal.attachCustomKeyEventHandler((event) => !this.#isForSearch(event));
    if (this.#isReadOnly) terminal.options.disableStdin = true;
    else this.#takeInput();
    terminal.focus();
  }

  #takeInput(): void {
    this.#terminal.onData((typed) => void this.#attached?.write(this.#keys.applied(typed)));
    // Some mouse reports are bytes that are not valid text.
    this.#terminal.onBinary((typed) => {
      void this.#attached?.write(Uint8Array.from(typed, (character) => character.charCodeAt(0)));
    });
    this.#size = this.#fitting();
    this.#resized.observe(this.#screen);
  }

  /** Ctrl-F goes to the program; browsers and terminals leave Ctrl-Shift-F to the page. */
  #isForSearch(event: KeyboardEvent): boolean {
    if (event.code !== 'KeyF' || !event.ctrlKey || !event.shiftKey) return false;
    event.preventDefault();
    if (event.type === 'keydown') this.#search.open();
    return true;
  }

  /** Shows the terminal until it ends. The page waits for a daemon that is away as long as a person does. */
  async #follow(): Promise<void> {
    const options = { retryMs: Number.POSITIVE_INFINITY, signal: this.#closing.signal };
    try {
      const asked = this.#isReadOnly ? { readOnly: true } : this.#size;
      const attached = await this.box.terminals.attach(this.#id, asked, options);
      if (!attached.ok) throw attached.error;
      this.#attached = attached.body;
      for await (const event of attached.body) await this.#show(event);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#showState(error instanceof Error ? error.message : String(error));
    }
  }

  async #show(event: TerminalEvent): Promise<void> {
    switch (event.type) {
      case 'output':
        return await this.#draw(event.bytes);
      case 'restore':
        this.#terminal.reset();
        return await this.#draw(event.text);
      case 'gap':
        return await this.#draw(`\r\n[${event.to - event.from} bytes of output are gone]\r\n`);
      case 'attached':
        this.#showState(this.#isReadOnly ? 'watching' : 'attached');
        return this.#terminal.resize(event.cols, event.rows);
      case 'resize':
        return this.#terminal.resize(event.cols, event.rows);
      case 'title':
        return this.#nameIt(event.title);
      case 'away':
        return this.#showState('not connected; trying again');
      case 'error':
        return this.#showState(event.error.message);
      case 'exit':
        return this.#showState(event.signal ? `ended by ${event.signal}` : `ended with ${event.exitCode ?? 'no code'}`);
    }
  }

  /** Resolves when the data is on the screen, so that the daemon sends no more than can be drawn. */
  async #draw(drawn: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#terminal.write(drawn, resolve);
    });
  }

  #showState(state: string): void {
    this.#state.replaceChildren(state);
  }

  #setTextSize(byPixels: number): void {
    const { options } = this.#terminal;
    options.fontSize = keepTextSize((options.fontSize ?? 0) + byPixels);
    if (!this.#isReadOnly) this.#resize();
  }

  #resize(): void {
    const { cols, rows } = this.#fitting();
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    this.#terminal.resize(cols, rows);
    this.#attached?.resize(cols, rows);
  }

  /** The size that fits into the window. */
  #fitting(): Size {
    const { cols, rows } = this.#fit.proposeDimensions() ?? this.#terminal;
    return { cols, rows };
  }

  #nameIt(title: string | null): void {
    const name = title ? `${this.#called}: ${title}` : this.#called;
    this.#name.replaceChildren(name);
    document.title = `${name} - boxkeep`;
  }
}

provideView('terminal', TerminalPage);
