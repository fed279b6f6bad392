/** The page at `/`: what this is, the terminals there are, and where to go on. */
import type { DaemonClient, TerminalRecord } from './daemon.ts';
import { element } from './elements.ts';

const refreshMs = 3000;
const example = `curl -s ${new URL('v2/commands', new URL('.', location.href)).href} -d '{"command": "uname -a"}'`;

export class HomePage {
  readonly #table = element('div');
  readonly #problem = element('p', { class: 'wrong' });
  #refresh: ReturnType<typeof setInterval> | null = null;
  #isClosed = false;
  /** What the table shows: it is drawn anew only for something else, so that nobody loses their place in it. */
  #shown = '';

  constructor(
    private readonly daemon: DaemonClient,
    private readonly place: HTMLElement,
  ) {}

  async show(): Promise<void> {
    const version = await this.daemon.version();
    await this.#list();
    if (this.#isClosed) return;
    document.title = 'sandboxd';
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element('header', {}, element('h1', {}, 'sandboxd'), element('span', { class: 'version' }, version)),
        element('p', {}, 'This machine takes commands, files, terminals and code over HTTP.'),
        element('h2', {}, 'Terminals'),
        this.#table,
        this.#problem,
        element('p', {}, element('button', { onClick: () => void this.#try(() => this.#create()) }, 'New terminal')),
        element('h2', {}, 'From a program'),
        element('pre', {}, example),
        element(
          'p',
          {},
          'Every route: ',
          element('a', { href: 'v2/openapi.json' }, '/v2/openapi.json'),
          '. With a key set, send it as ',
          element('code', {}, 'Authorization: Bearer KEY'),
          '.',
        ),
      ),
    );
    this.#refresh = setInterval(() => void this.#try(() => this.#list()), refreshMs);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#refresh ?? undefined);
  }

  async #list(): Promise<void> {
    const terminals = await this.daemon.listTerminals();
    const text = JSON.stringify(terminals);
    if (text === this.#shown) return;
    this.#shown = text;
    this.#table.replaceChildren(
      terminals.length === 0
        ? element('p', { class: 'note' }, 'None yet.')
        : element('table', {}, headings(), ...terminals.map((terminal) => this.#row(terminal))),
    );
  }

  #row(terminal: TerminalRecord): HTMLElement {
    const { session_id: id, working_dir: directory, user, title } = terminal;
    const close = () => void this.#try(() => this.#close(id));
    const cells = [
      element('a', { href: `#/terminal/${encodeURIComponent(id)}` }, title ? `${id} (${title})` : id),
      whatItDoes(terminal),
      directory,
      user,
      element('button', { label: `Close ${id}`, onClick: close }, 'Close'),
    ];
    return element('tr', {}, ...cells.map((cell) => element('td', {}, cell)));
  }

  async #create(): Promise<void> {
    const { session_id: id } = await this.daemon.createTerminal();
    location.hash = `#/terminal/${encodeURIComponent(id)}`;
  }

  async #close(id: string): Promise<void> {
    await this.daemon.closeTerminal(id);
    await this.#list();
  }

  /** The page stays when the daemon is away for a moment, and says so. */
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
  return element('tr', {}, ...names.map((name) => element('th', {}, name)));
}

function whatItDoes({ status, current_command: command, exit_code: exitCode }: TerminalRecord): string {
  if (status === 'terminated') return exitCode === null ? 'ended' : `ended with ${exitCode}`;
  return command ?? (status === 'running' ? 'a command' : 'the shell');
}
