/** The command palette: finds a view, a running command, a terminal or a route by some letters of its name. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { readDescription } from '../forms/description.ts';
import { nameOf } from './terminal-name.ts';
import { addressOf, type View } from './view.ts';

interface Target {
  readonly kind: string;
  readonly name: string;
  readonly href: string;
}

const maxShown = 50;

/** Opens on Ctrl-K. A terminal keeps its keys, because Ctrl-K deletes to the end of the line there. */
export class Palette {
  #dialog: HTMLDialogElement | null = null;
  /** Read once, because the description of all routes is large. */
  #routes: readonly Target[] = [];

  constructor(
    private readonly views: Readonly<Record<string, View>>,
    private readonly sandbox: () => Sandbox,
  ) {
    addEventListener('keydown', (event) => {
      const isInTerminal = event.target instanceof Element && event.target.closest('.xterm') !== null;
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || isInTerminal) return;
      event.preventDefault();
      this.open();
    });
  }

  open(): void {
    if (this.#dialog) return;
    const input = element('input', { type: 'search', placeholder: 'View, command, terminal or route', label: 'Go to' });
    const list = element('ul', { class: 'targets', label: 'Targets' });
    const dialog = element('dialog', { class: 'palette', label: 'Go to' }, input, list);
    const choice = new Choice(input, list, (href) => {
      dialog.close();
      location.hash = href;
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      this.#dialog = null;
    });
    dialog.addEventListener('click', ({ target }) => {
      if (target === dialog) dialog.close();
    });
    this.#dialog = dialog;
    document.body.append(dialog);
    dialog.showModal();
    choice.add(viewTargets(this.views));
    choice.add(this.#routes);
    for (const find of [runningCommands, terminals]) void find(this.sandbox()).then((found) => choice.add(found));
    if (this.#routes.length === 0) void routes(this.sandbox()).then((found) => choice.add((this.#routes = found)));
  }
}

/** A list of targets under a field, as a combobox: the field keeps the focus, and the arrow keys move the choice. */
class Choice {
  readonly #targets: Target[] = [];
  #at = 0;

  constructor(
    private readonly input: HTMLInputElement,
    private readonly list: HTMLUListElement,
    private readonly go: (href: string) => void,
  ) {
    list.id = 'targets';
    list.setAttribute('role', 'listbox');
    const attributes = { role: 'combobox', 'aria-expanded': 'true', 'aria-controls': list.id };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
    input.addEventListener('input', () => this.#draw(0));
    input.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) this.#draw(this.#at + step);
      else if (event.key === 'Enter') list.querySelector<HTMLElement>('[aria-selected="true"]')?.click();
      else return;
      event.preventDefault();
    });
  }

  add(targets: readonly Target[]): void {
    this.#targets.push(...targets);
    this.#draw(this.#at);
  }

  #draw(at: number): void {
    const words = this.input.value.toLowerCase().split(/\s+/);
    const isFound = ({ kind, name }: Target) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word));
    const found = this.#targets.filter(isFound).slice(0, maxShown);
    this.#at = Math.max(0, Math.min(at, found.length - 1));
    this.list.replaceChildren(...found.map((target, place) => this.#row(target, place)));
    const chosen = this.list.children[this.#at];
    this.input.setAttribute('aria-activedescendant', chosen?.id ?? '');
    chosen?.scrollIntoView({ block: 'nearest' });
  }

  #row({ kind, name, href }: Target, place: number): HTMLElement {
    const row = element('li', { onClick: () => this.go(href) }, element('span', { class: 'note' }, kind), ` ${name}`);
    row.id = `target-${place}`;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(place === this.#at));
    return row;
  }
}

function viewTargets(views: Readonly<Record<string, View>>): Target[] {
  return Object.entries(views).flatMap(([view, { title }]) =>
    title === undefined ? [] : [{ kind: 'view', name: title, href: addressOf(view) }],
  );
}

// A list that the daemon refuses is left out: the other targets stay useful, and the open view reports the daemon.

async function runningCommands(box: Sandbox): Promise<Target[]> {
  const listed = await box.commands.list({ status: 'running' });
  if (!listed.ok) return [];
  return listed.body.data.commands.map(({ command, command_id: id }) => ({
    kind: 'command',
    name: command,
    href: addressOf('command', id),
  }));
}

async function terminals(box: Sandbox): Promise<Target[]> {
  const listed = await box.terminals.list();
  if (!listed.ok) return [];
  return Object.values(listed.body.data.sessions).map((terminal) => ({
    kind: 'terminal',
    name: nameOf(terminal),
    href: addressOf('terminal', terminal.session_id),
  }));
}

async function routes(box: Sandbox): Promise<Target[]> {
  const read = await readDescription(box);
  if (!read.ok) return [];
  return read.body.routes.map(({ operation, method, path }) => ({
    kind: 'route',
    name: `${method} ${path} ${operation}`,
    href: addressOf('api', operation),
  }));
}
