/** The page at `#/activity`: everything that has happened since the daemon started, as far as it is kept. */
import type { Sandbox } from '../../clients/typescript/src/index.ts';
import { ActivityList, allEntries } from './activity-list.ts';
import { element } from './elements.ts';

export class ActivityPage {
  readonly #list: ActivityList;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {
    this.#list = new ActivityList(box, allEntries);
  }

  async show(): Promise<void> {
    await this.box.orThrow.info();
    this.#list.start();
    document.title = 'Activity';
    const search = element('input', { type: 'search', placeholder: 'Filter', label: 'Filter' });
    search.addEventListener('input', () => this.#list.filter(search.value));
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'Activity'), search),
        this.#list.place,
      ),
    );
  }

  close(): void {
    this.#list.close();
  }
}
