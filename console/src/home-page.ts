/** The page at `/`: what happens now, the list of terminals, and links. */
import type { Sandbox, TerminalSession } from '../../clients/typescript/src/index.ts';
import { ActivityList } from './activity-list.ts';
import { element, keepingFocus } from './elements.ts';
import { scrollable } from './forms/answer-view.ts';
import { askForText, isAgreed } from './frame/question.ts';
import { nameOf } from './frame/terminal-name.ts';
import { whileSeen } from './frame/while-seen.ts';

const refreshMs = 3000;
/** Directory and account are left out where the window is narrow. */
const columns = [{}, {}, { class: 'wide' }, { class: 'wide' }, {}];
/** Entries of activity. */
const newest = 8;
const example = `curl -s ${new URL('v2/commands', new URL('.', location.href)).href} -d '{"command": "uname -a"}'`;

export class HomePage {
  readonly #now: ActivityList;
  readonly #table = element('div');
  readonly #problem = element('p', { class: 'wrong' });
  #stop: (() => void) | null = null;
  #isClosed = false;
  /**
   * The content of the table. The table is redrawn only when the content changes, so that a person keeps focus and
   * selection.
   */
  #shown = '';

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {
    this.#now = new ActivityList(box, newest);
  }

  async show(): Promise<void> {
    const { version } = await this.box.orThrow.waitUntilReady({ retryMs: 0 });
    await this.#list();
    if (this.#isClosed) return;
    this.#now.start();
    document.title = 'boxkeep';
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'boxkeep'), element('span', { class: 'version' }, version)),
        element('p', {}, 'What happens in this sandbox, and its terminals.'),
        element('h2', {}, 'Now'),
        this.#now.place,
        element('p', {}, element('a', { href: '#/activity' }, 'All activity')),
        element('h2', {}, 'Terminals'),
        this.#table,
        this.#problem,
        element('p', {}, element('button', { onClick: () => void this.#try(() => this.#create()) }, 'New terminal')),
        element('h2', {}, 'From a program'),
        scrollable(example),
        element(
          'p',
          {},
          element('a', { href: '#/api' }, 'Every route'),
          ' has a form here. With a key set, send it as ',
          element('code', {}, 'Authorization: Bearer KEY'),
          '.',
        ),
      ),
    );
    this.#stop = whileSeen(refreshMs, () => this.#try(() => this.#list()));
  }

  close(): void {
    this.#isClosed = true;
    this.#now.close();
    this.#stop?.();
  }

  async #list(): Promise<void> {
    const terminals = Object.values((await this.box.orThrow.terminals.list()).data.sessions);
    const text = JSON.stringify(terminals);
    if (text === this.#shown) return;
    this.#shown = text;
    const shown =
      terminals.length === 0
        ? element('p', { class: 'note' }, 'None yet.')
        : element('table', {}, headings(), ...terminals.map((terminal) => this.#row(terminal)));
    keepingFocus(this.#table, () => this.#table.replaceChildren(shown));
  }

  #row(terminal: TerminalSession): HTMLElement {
    const { session_id: id, working_dir: directory, user, title } = terminal;
    const name = nameOf(terminal);
    const rename = () => void this.#try(() => this.#rename(terminal));
    const close = () => void this.#try(() => this.#close(terminal));
    const cells = [
      element('a', { href: `#/terminal/${encodeURIComponent(id)}` }, title ? `${name} (${title})` : name),
      whatItDoes(terminal),
      directory,
      user,
      element(
        'span',
        { class: 'actions' },
        element('button', { label: `Rename ${name}`, onClick: rename }, 'Rename'),
        element('button', { label: `Close ${name}`, onClick: close }, 'Close'),
      ),
    ];
    return element('tr', {}, ...cells.map((cell, column) => element('td', columns[column], cell)));
  }

  async #create(): Promise<void> {
    const { session_id: id } = (await this.box.orThrow.terminals.create()).data;
    location.hash = `#/terminal/${encodeURIComponent(id)}`;
  }

  async #rename(terminal: TerminalSession): Promise<void> {
    const { session_id: id, name } = terminal;
    const given = await askForText(`Name of ${nameOf(terminal)}; empty for none`, 'Rename', name ?? '', {
      isOptional: true,
    });
    if (given === null) return;
    await this.box.orThrow.terminals.rename(id, given.trim() || null);
    await this.#list();
  }

  async #close(terminal: TerminalSession): Promise<void> {
    const { session_id: id } = terminal;
    if (!(await isAgreed(`Close ${nameOf(terminal)}? ${closeWarning(terminal)}`, 'Close terminal'))) return;
    await this.box.orThrow.terminals.close(id);
    await this.#list();
  }

  /** The page stays when the daemon is unreachable for a moment, and shows the problem. */
  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this.#problem.replaceChildren();
    } catch (error) {
      this.#problem.replaceChildren(error instanceof Error ? error.message : String(error));
    }
  }
}

function headings(): HTMLElement {
  const names = ['Session', 'Runs', 'Directory', 'Account', ''];
  return element('tr', {}, ...names.map((name, column) => element(name === '' ? 'td' : 'th', columns[column], name)));
}

function closeWarning({ status, current_command: command }: TerminalSession): string {
  if (status === 'terminated') return 'Its output will be gone.';
  return command === null ? 'Its shell ends.' : `Its shell and “${command}” end.`;
}

function whatItDoes({ status, current_command: command, exit_code: exitCode }: TerminalSession): string {
  if (status === 'terminated') return exitCode === null ? 'ended' : `ended with ${exitCode}`;
  return command ?? (status === 'running' ? 'a command' : 'the shell');
}
