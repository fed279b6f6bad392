/** Shows one terminal that fills the window. */
import { FitAddon } from '@xterm/addon-fit';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal } from '@xterm/xterm';
import { TerminalConnection, type Size } from './terminal-connection.ts';
import type { DaemonClient } from './daemon.ts';
import { element } from './elements.ts';

export class TerminalPage {
  readonly #name = element('span', { class: 'name' });
  readonly #state = element('span', { class: 'state' }, 'connecting');
  readonly #screen = element('div', { class: 'screen' });
  readonly #terminal = new Terminal({
    allowProposedApi: true, // Needed for current Unicode character widths.
    cursorBlink: true,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    fontSize: 14,
    // At 1 the rows cut off the underscore of DejaVu Sans Mono. From 1.2 on, box drawings have gaps.
    lineHeight: 1.1,
    scrollback: 10_000,
    theme: { background: '#14181f', foreground: '#d8dee8' },
  });
  readonly #fit = new FitAddon();
  readonly #resized = new ResizeObserver(() => this.#connection?.resize(this.#fitting()));
  #connection: TerminalConnection | null = null;
  #isClosed = false;

  constructor(
    private readonly daemon: DaemonClient,
    private readonly place: HTMLElement,
    private readonly id: string,
  ) {}

  async show(): Promise<void> {
    // A refused socket does not report the reason to a page. This request does.
    await this.daemon.terminal(this.id);
    if (this.#isClosed) return;
    this.#nameIt(null);
    const home = element('a', { href: '#' }, 'All terminals');
    const bar = element('header', {}, home, this.#name, this.#state);
    this.place.replaceChildren(element('main', { class: 'terminal-page' }, bar, this.#screen));
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#resized.disconnect();
    this.#connection?.close();
    this.#terminal.dispose();
  }

  #open(): void {
    const terminal = this.#terminal;
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = '11';
    terminal.open(this.#screen);
    const connection = new TerminalConnection(this.daemon, this.id, this.#fitting(), {
      write: (data, onShown) => terminal.write(data, onShown),
      restart: () => terminal.reset(),
      resized: ({ cols, rows }) => terminal.resize(cols, rows),
      titled: (title) => this.#nameIt(title),
      showState: (state) => this.#state.replaceChildren(state),
    });
    this.#connection = connection;
    terminal.onData((typed) => connection.type(new TextEncoder().encode(typed)));
    // Some mouse reports are bytes that are not valid text.
    terminal.onBinary((typed) => connection.type(Uint8Array.from(typed, (character) => character.charCodeAt(0))));
    this.#resized.observe(this.#screen);
    connection.open();
    terminal.focus();
  }

  /** The size that fits into the window. */
  #fitting(): Size {
    const { cols, rows } = this.#fit.proposeDimensions() ?? this.#terminal;
    return { cols, rows };
  }

  #nameIt(title: string | null): void {
    const name = title ? `${this.id}: ${title}` : this.id;
    this.#name.replaceChildren(name);
    document.title = `${name} - boxkeep`;
  }
}
