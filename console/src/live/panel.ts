/** A list that a person opens beside a live picture; it is read only while it is open. */
import { element, keepingFocus } from '../elements.ts';

export class Panel {
  readonly place = element('details');
  readonly #rows = element('ul', { class: 'rows' });
  #isReading = false;

  constructor(
    name: string,
    private readonly read: () => Promise<readonly HTMLElement[]>,
    ...more: readonly HTMLElement[]
  ) {
    this.place.append(element('summary', {}, name), ...more, this.#rows);
    this.place.addEventListener('toggle', () => void this.refresh());
  }

  async refresh(): Promise<void> {
    if (!this.place.open || this.#isReading) return;
    this.#isReading = true;
    try {
      const rows = await this.read();
      const text = rows.map(({ outerHTML }) => outerHTML).join('');
      // A person keeps the place in a list that has not changed, and clicks the row on which the button went down.
      const isSame = text === this.#rows.innerHTML && rows.length > 0;
      if (!isSame && !this.#rows.matches(':active')) this.#show(rows);
    } catch (error) {
      this.#show([element('li', { class: 'wrong' }, error instanceof Error ? error.message : String(error))]);
    } finally {
      this.#isReading = false;
    }
  }

  #show(rows: readonly HTMLElement[]): void {
    const shown = rows.length === 0 ? [element('li', { class: 'note' }, 'Nothing.')] : rows;
    keepingFocus(this.#rows, () => this.#rows.replaceChildren(...shown));
  }
}
