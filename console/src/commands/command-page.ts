/** The page at `#/command/<id>`: a command with its output, live. */
import {
  BoxError,
  type CommandHandle,
  type OutputEvent,
  type Sandbox,
  type Throwing,
} from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { copyable } from '../frame/copyable.ts';
import { isAgreed } from '../frame/question.ts';
import { addressOf } from '../frame/view.ts';
import { snippetsOf } from './client-code.ts';

/** Characters of output that the page keeps; the daemon keeps the rest. */
const maxCharacters = 1_000_000;

export class CommandPage {
  readonly #output = element('pre', { class: 'output' });
  readonly #state = element('p', { class: 'note' });
  readonly #kill = element('button', { onClick: () => void this.#end() }, 'Kill');
  readonly #input = element('form', { class: 'line' });
  readonly #closing = new AbortController();
  #shown = 0;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private readonly id: string,
  ) {}

  async show(): Promise<void> {
    const handle = await this.box.orThrow.commands.connect(this.id);
    const { command, args, cwd, user } = handle.record;
    document.title = command;
    this.place.replaceChildren(
      element(
        'main',
        { class: 'home' },
        element(
          'header',
          {},
          element('h1', {}, 'Command'),
          element('a', { href: addressOf('commands') }, 'All commands'),
        ),
        element('pre', {}, [command, ...args].join(' ')),
        element('p', { class: 'note' }, `${this.id}, ${user} in ${cwd}`),
        this.#state,
        this.#output,
        this.#stdin(handle),
        element('p', {}, this.#kill, ' ', element('button', { onClick: () => void this.#again(handle) }, 'Run again')),
        element('details', {}, element('summary', {}, 'From a program'), ...this.#snippets(handle)),
      ),
    );
    void this.#follow(handle);
  }

  close(): void {
    this.#closing.abort();
  }

  /** A line for a command that reads. The command has to have been started with a standard input. */
  #stdin(handle: Throwing<CommandHandle>): HTMLElement {
    const input = element('input', { type: 'text', placeholder: 'Input', label: 'Standard input' });
    const send = element('button', { type: 'submit' }, 'Send line');
    const end = element('button', { type: 'button', onClick: () => void this.#try(() => handle.closeStdin()) }, 'End');
    end.title = 'Ends the standard input, as Ctrl-D does in a terminal';
    this.#input.append(input, send, end);
    this.#input.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#try(async () => {
        await handle.write(`${input.value}\n`);
        input.value = '';
      });
    });
    return this.#input;
  }

  #snippets({ record }: Throwing<CommandHandle>): HTMLElement[] {
    return snippetsOf(this.box.address, record).map(({ name, text }) => copyable(name, text));
  }

  async #follow(handle: Throwing<CommandHandle>): Promise<void> {
    const { signal } = this.#closing;
    this.#say('running');
    try {
      const onAway = ({ message }: Error) => this.#say(`${message}; trying again`);
      for await (const event of handle.events({ signal, retryMs: Number.POSITIVE_INFINITY, onAway })) this.#add(event);
    } catch (error) {
      if (!signal.aborted) this.#say(error instanceof Error ? error.message : String(error));
    }
  }

  #add(event: OutputEvent): void {
    if (event.type === 'exit') {
      this.#say(event.status === 'completed' ? `ended with ${event.exitCode}` : `${event.status} (${event.exitCode})`);
      this.#kill.disabled = true;
      this.#input.remove();
      return;
    }
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    const text = event.type === 'gap' ? `[${event.to - event.from} bytes are no longer kept]\n` : event.text;
    this.#output.append(element('span', { class: event.type }, text));
    this.#shown += text.length;
    while (this.#shown > maxCharacters && this.#output.childElementCount > 1) {
      this.#shown -= this.#output.firstElementChild?.textContent.length ?? 0;
      this.#output.firstElementChild?.remove();
    }
    if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
  }

  #say(text: string): void {
    this.#state.textContent = text;
  }

  async #end(): Promise<void> {
    if (!(await isAgreed('Kill the command and its children?', 'Kill command'))) return;
    await this.#try(() => this.box.orThrow.commands.kill(this.id));
  }

  /** Starts the same command as a new one. Its environment is not known, so that the new one has that of the daemon. */
  async #again({ record: { command, args, cwd, user } }: Throwing<CommandHandle>): Promise<void> {
    const shell = args.length > 0 ? { shell: 'none' as const, args } : {};
    await this.#try(async () => {
      const { id } = await this.box.orThrow.commands.start({ command, cwd, user, ...shell });
      location.hash = `#/command/${encodeURIComponent(id)}`;
    });
  }

  async #try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof BoxError)) throw error;
      this.#say(error.message);
    }
  }
}
