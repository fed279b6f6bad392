/** Finds a text on the screen of a terminal and in its scrollback. */
import { SearchAddon, type ISearchOptions } from '@xterm/addon-search';
import type { Terminal } from '@xterm/xterm';
import { element } from '../elements.ts';

const options: ISearchOptions = {
  decorations: {
    matchBackground: '#4a4416',
    matchOverviewRuler: '#4a4416',
    activeMatchBackground: '#8a5a00',
    activeMatchColorOverviewRuler: '#8a5a00',
  },
};

export class SearchBar {
  readonly place: HTMLFormElement;
  readonly #search = new SearchAddon();
  readonly #input = element('input', { type: 'search', placeholder: 'Search', label: 'Search the terminal' });
  readonly #count = element('span', { class: 'note' });

  constructor(private readonly terminal: Terminal) {
    terminal.loadAddon(this.#search);
    this.#count.setAttribute('role', 'status');
    const button = (sign: string, label: string, onClick: () => void) =>
      element('button', { type: 'button', label, onClick }, sign);
    this.place = element(
      'form',
      { class: 'search' },
      this.#input,
      button('↑', 'Earlier', () => this.#find('findPrevious')),
      button('↓', 'Later', () => this.#find('findNext')),
      this.#count,
      button('×', 'End the search', () => this.close()),
    );
    this.place.hidden = true;
    this.#input.addEventListener('input', () => this.#find('findPrevious', true));
    this.place.addEventListener('keydown', (event) => this.#onKey(event));
    this.#search.onDidChangeResults(({ resultIndex, resultCount }) => this.#tell(resultIndex, resultCount));
  }

  open(): void {
    this.place.hidden = false;
    this.#input.select();
    this.#input.focus();
  }

  close(): void {
    this.place.hidden = true;
    this.#search.clearDecorations();
    this.terminal.clearSelection();
    this.terminal.focus();
  }

  /** The newest match comes first, because a person looks for what has just scrolled away. */
  #onKey(event: KeyboardEvent): void {
    const isInField = event.target === this.#input;
    if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' && isInField) this.#find(event.shiftKey ? 'findNext' : 'findPrevious');
    else return;
    event.preventDefault();
  }

  #find(direction: 'findNext' | 'findPrevious', incremental = false): void {
    this.#search[direction](this.#input.value, { ...options, incremental });
  }

  #tell(index: number, count: number): void {
    const isEmpty = this.#input.value === '';
    this.#count.textContent = isEmpty ? '' : count === 0 ? 'not found' : `${index + 1} of ${count}`;
  }
}
