/** Keys that the keyboard of a phone lacks, in a bar below the terminal. */
import type { Terminal } from '@xterm/xterm';
import { element } from '../elements.ts';

const arrows = { '←': ['D', 'Left'], '↑': ['A', 'Up'], '↓': ['B', 'Down'], '→': ['C', 'Right'] } as const;

export class KeyBar {
  readonly place: HTMLElement;
  readonly #ctrl = element('button', { type: 'button', onClick: () => this.#hold(!this.#isHeld) }, 'Ctrl');
  #isHeld = false;

  constructor(private readonly terminal: Terminal) {
    const key = (sign: string, sequence: () => string, label = sign) =>
      element('button', { type: 'button', label, onClick: () => terminal.input(sequence()) }, sign);
    this.place = element(
      'div',
      { class: 'keys', label: 'Keys' },
      key('Esc', () => '\u001b'),
      this.#ctrl,
      key('Tab', () => '\t'),
      ...Object.entries(arrows).map(([sign, [letter, label]]) => key(sign, () => this.#arrow(letter), label)),
    );
    this.place.setAttribute('role', 'toolbar');
    // The terminal keeps the focus, so that the keyboard of the phone stays open.
    this.place.addEventListener('pointerdown', (event) => event.preventDefault());
    this.#hold(false);
  }

  /** What the terminal is to get for what was typed: Ctrl applies to the next key. */
  applied(typed: string): string {
    if (!this.#isHeld) return typed;
    this.#hold(false);
    return /^[@-_a-z ]$/.test(typed) ? String.fromCharCode(typed.charCodeAt(0) & 0x1f) : typed;
  }

  #arrow(letter: string): string {
    if (this.#isHeld) return `\u001b[1;5${letter}`;
    return `\u001b${this.terminal.modes.applicationCursorKeysMode ? 'O' : '['}${letter}`;
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#ctrl.setAttribute('aria-pressed', String(isHeld));
  }
}
