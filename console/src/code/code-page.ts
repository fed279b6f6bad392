/** The page at `#/code`: the sessions of the interpreters, and at `#/code/<id>` the cells of one. */
import type { NotebookOutput, Result, Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { scrollable } from '../forms/answer-view.ts';
import { isAgreed } from '../frame/question.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { shown } from './outputs.ts';

const languages = ['python', 'javascript'] as const;

interface Cell {
  readonly code: string;
  readonly outputs: readonly NotebookOutput[];
  readonly truncated: boolean;
  readonly duration_ms: number | null;
}

export class CodePage implements Page {
  readonly #state = element('p', { class: 'note' });
  readonly #cells = element('section', { label: 'Cells' });
  readonly #code = element('textarea', { label: 'Code' });
  readonly #run = element('button', { type: 'submit' }, 'Run');
  readonly #closing = new AbortController();
  #language: (typeof languages)[number] = 'python';

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private readonly id: string,
  ) {}

  async show(): Promise<void> {
    document.title = this.id || 'Code';
    if (this.id === '') return await this.#list();
    const found = await this.box.call('code.get_session', { path: { id: this.id } });
    if (!found.ok) throw found.error;
    // The daemon keeps the last cell, so a reload shows it.
    const { language, last_execution: last } = found.body.data;
    this.#language = language;
    const heading = element('header', {}, element('h1', {}, this.id), element('span', { class: 'note' }, language));
    const parts = [heading, this.#cells, this.#form(), this.#state, this.#actions()];
    this.place.replaceChildren(element('main', { class: 'home' }, ...parts));
    if (last !== null) this.#add(last);
    this.#code.focus();
  }

  close(): void {
    this.#closing.abort();
  }

  async #list(): Promise<void> {
    const { sessions } = (await this.box.orThrow.code.list()).data;
    const rows = Object.values(sessions).map(({ id, language, state, execution_count: count }) =>
      element('li', {}, element('a', { href: addressOf('code', id) }, id), ` ${language}, ${state}, ${count} cells`),
    );
    const makers = languages.map((language) =>
      element('button', { onClick: () => void this.#make(language) }, `New ${language} session`),
    );
    const hint =
      'A session keeps its variables from one cell to the next, and is shared with the agent that knows its id.';
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'Code'), ...makers),
        element('p', {}, hint),
        element('ul', { class: 'rows' }, ...rows),
        this.#state,
      ),
    );
    if (rows.length === 0) this.#state.textContent = 'No sessions.';
  }

  async #make(language: (typeof languages)[number]): Promise<void> {
    const made = await this.box.code.session({ language });
    if (made.ok) location.hash = addressOf('code', made.body.id);
    else this.#state.textContent = [made.error.message, made.error.hint].filter(Boolean).join('. ');
  }

  #form(): HTMLElement {
    const form = element('form', { class: 'field' }, this.#code, element('p', {}, this.#run, ' Ctrl-Enter'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#execute();
    });
    this.#code.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.requestSubmit();
    });
    return form;
  }

  async #execute(): Promise<void> {
    const code = this.#code.value;
    if (code.trim() === '' || this.#run.disabled) return;
    this.#run.disabled = true;
    this.#state.textContent = 'running';
    const body = { language: this.#language, code, session_id: this.id };
    const ran = await this.#done(this.box.call('code.execute', { body }, { signal: this.#closing.signal }));
    this.#run.disabled = false;
    if (ran === null) return;
    this.#add(ran.data);
    this.#code.value = '';
    this.#state.textContent = ran.data.kernel === null ? '' : 'The interpreter has ended, and its variables are lost.';
  }

  #actions(): HTMLElement {
    const path = { id: this.id };
    const interrupt = () => void this.#done(this.box.call('code.interrupt', { path }));
    const restart = async () => {
      if (!(await isAgreed('Restart the interpreter? Its variables are lost.', 'Restart'))) return;
      const restarted = await this.#done(this.box.call('code.restart', { path }));
      if (restarted !== null) this.#state.textContent = 'restarted';
    };
    const end = async () => {
      if (!(await isAgreed('Close the session? Its variables are lost.', 'Close session'))) return;
      const closed = await this.#done(this.box.call('code.delete_session', { path }));
      if (closed !== null) location.hash = addressOf('code');
    };
    const buttons = [
      element('button', { onClick: interrupt }, 'Interrupt'),
      element('button', { onClick: () => void restart() }, 'Restart'),
      element('button', { onClick: () => void end() }, 'Close session'),
    ];
    return element('p', { class: 'line' }, ...buttons);
  }

  /** Null where the call fails; the page says why. */
  async #done<Value>(call: Promise<Result<Value>>): Promise<Value | null> {
    try {
      const answer = await call;
      if (answer.ok) return answer.body;
      this.#state.textContent = answer.error.message;
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error; // Leaving the page ends the wait, and not the cell.
    }
    return null;
  }

  #add({ code, outputs, truncated, duration_ms: ms }: Cell): void {
    const cut = truncated ? ', its output is cut' : '';
    const took = ms === null ? 'running' : `${Math.round(ms)} ms${cut}`;
    this.#cells.append(
      element('article', {}, scrollable(code), ...outputs.map(shown), element('p', { class: 'note' }, took)),
    );
  }
}
