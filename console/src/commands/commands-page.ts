/** The page at `#/commands`: the commands of the sandbox, with a field that starts one. */
import type { Command, Sandbox } from '../../../clients/typescript/src/index.ts';
import { element, keepingFocus } from '../elements.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { whileSeen } from '../frame/while-seen.ts';

const refreshMs = 2000;
/** Rows that are shown; the filter finds the others. */
const maxRows = 200;
const statuses: readonly Command['status'][] = ['running', 'completed', 'timed_out', 'killed', 'failed', 'lost'];

export class CommandsPage implements Page {
  readonly #rows = element('ul', { class: 'rows' });
  readonly #state = element('p', { class: 'note' });
  readonly #search = element('input', { type: 'search', placeholder: 'Filter', label: 'Filter' });
  readonly #status = element('select', { label: 'Status' });
  #commands: readonly Command[] = [];
  #shown = '';
  #stop: (() => void) | null = null;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {}

  async show(): Promise<void> {
    this.#commands = await this.#list();
    document.title = 'Commands';
    this.#status.append(element('option', {}, 'all'), ...statuses.map((status) => element('option', {}, status)));
    for (const field of [this.#search, this.#status]) field.addEventListener('input', () => this.#draw());
    const header = element('header', {}, element('h1', {}, 'Commands'), this.#search, this.#status);
    this.place.replaceChildren(element('main', { class: 'home' }, header, this.#form(), this.#state, this.#rows));
    this.#draw();
    this.#stop = whileSeen(refreshMs, () => this.#refresh());
  }

  close(): void {
    this.#stop?.();
  }

  #form(): HTMLElement {
    const input = element('input', { type: 'text', placeholder: 'uname -a', label: 'New command' });
    const form = element('form', { class: 'line' }, input, element('button', { type: 'submit' }, 'Run'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (input.value !== '') void this.#start(input.value);
    });
    return form;
  }

  async #start(command: string): Promise<void> {
    const started = await this.box.commands.start(command);
    if (started.ok) location.hash = addressOf('command', started.body.id);
    else this.#state.textContent = started.error.message;
  }

  async #refresh(): Promise<void> {
    try {
      this.#commands = await this.#list();
      this.#draw();
    } catch (error) {
      this.#state.textContent = `${error instanceof Error ? error.message : String(error)}; trying again`;
    }
  }

  async #list(): Promise<readonly Command[]> {
    return (await this.box.orThrow.commands.list()).data.commands;
  }

  /** Draws only what has changed, so that a person keeps what is selected. */
  #draw(): void {
    const words = this.#search.value.toLowerCase().split(/\s+/);
    const found = this.#commands.filter((command) => {
      const text = [command.command, ...command.args, command.command_id, command.user].join(' ').toLowerCase();
      const isChosen = this.#status.value === 'all' || this.#status.value === command.status;
      return isChosen && words.every((word) => text.includes(word));
    });
    const text = JSON.stringify(found);
    if (text === this.#shown) return;
    this.#shown = text;
    const rows = found.toSorted(newestFirst).slice(0, maxRows).map(row);
    keepingFocus(this.#rows, () => this.#rows.replaceChildren(...rows));
    this.#state.textContent = found.length === 0 ? 'None.' : `${found.length} of ${this.#commands.length}`;
  }
}

function newestFirst(one: Command, other: Command): number {
  return (other.started_at ?? '').localeCompare(one.started_at ?? '');
}

function row({ command, args, command_id: id, status, exit_code: code, user, started_at: started }: Command) {
  const link = element('a', { href: addressOf('command', id) }, [command, ...args].join(' '));
  const isBad = status !== 'running' && code !== 0;
  const state = status === 'completed' ? `exit ${code}` : status;
  const facts = [started === null ? '' : new Date(started).toLocaleTimeString(), user].filter(Boolean).join(', ');
  return element(
    'li',
    {},
    element('code', {}, link),
    ' ',
    element('span', { class: isBad ? 'wrong' : 'note' }, state),
    element('span', { class: 'note' }, ` ${facts}`),
  );
}
