/** The directories and files below a directory, read as a person opens them. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { addressOf } from '../frame/view.ts';

const maxEntries = 1000;

export interface TreeEntry {
  readonly name: string;
  readonly path: string;
  readonly is_directory: boolean;
}

export class FileTree {
  readonly place = element('nav', { class: 'tree', label: 'Files' });
  /** The lists of open directories, by path. */
  readonly #open = new Map<string, HTMLElement>();
  #root = '';

  constructor(private readonly box: Sandbox) {}

  /** Opens the directories above the path and marks its entry. `root`: where the tree begins. */
  async show(root: string, path: string): Promise<void> {
    if (root !== this.#root) {
      this.#root = root;
      this.#open.clear();
      this.place.replaceChildren(element('ul', {}, this.#row({ name: root, path: root, is_directory: true })));
    }
    for (const above of pathsBetween(root, path)) await this.#expand(above);
    this.#mark(path);
  }

  /** Reads an open directory again. */
  async refresh(directory: string, path: string): Promise<void> {
    const list = this.#open.get(directory);
    if (list) {
      this.#forgetBelow(directory);
      list.replaceChildren(...(await this.#entries(directory)));
    }
    this.#mark(path);
  }

  #mark(path: string): void {
    for (const link of this.place.querySelectorAll<HTMLElement>('a')) {
      const isCurrent = link.dataset['path'] === path;
      if (isCurrent) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
      if (isCurrent) link.scrollIntoView({ block: 'nearest' });
    }
  }

  #row({ name, path, is_directory: isDirectory }: TreeEntry): HTMLElement {
    const link = element('a', { href: addressOf('files', path) }, element('bdi', {}, name));
    link.dataset['path'] = path;
    const row = element('li', {}, link);
    if (!isDirectory) return row;
    const toggle = element('button', { label: `Open ${name}`, onClick: () => void this.#toggle(path) }, '▸');
    toggle.setAttribute('aria-expanded', 'false');
    row.dataset['directory'] = path;
    row.prepend(toggle);
    return row;
  }

  async #toggle(path: string): Promise<void> {
    const list = this.#open.get(path);
    if (!list) return await this.#expand(path);
    list.remove();
    this.#forgetBelow(path);
    this.#open.delete(path);
    this.#rowAt(path)?.querySelector('button')?.setAttribute('aria-expanded', 'false');
  }

  /** Directories below are read again when they are shown again. */
  #forgetBelow(path: string): void {
    for (const below of this.#open.keys()) if (below !== path && isWithin(path, below)) this.#open.delete(below);
  }

  async #expand(path: string): Promise<void> {
    const row = this.#rowAt(path);
    if (!row || this.#open.has(path)) return;
    const list = element('ul');
    this.#open.set(path, list);
    list.append(...(await this.#entries(path)));
    row.append(list);
    row.querySelector('button')?.setAttribute('aria-expanded', 'true');
  }

  #rowAt(path: string): HTMLElement | null {
    return this.place.querySelector<HTMLElement>(`[data-directory="${CSS.escape(path)}"]`);
  }

  async #entries(path: string): Promise<HTMLElement[]> {
    const listed = await this.box.files.list(path, { limit: maxEntries });
    if (!listed.ok) return [element('li', { class: 'wrong' }, listed.error.message)];
    const { files, truncated } = listed.body.data;
    const rows = directoriesFirst(files).map((entry) => this.#row(entry));
    return truncated ? [...rows, element('li', { class: 'note' }, `only the first ${maxEntries}`)] : rows;
  }
}

export function directoriesFirst<Entry extends TreeEntry>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((one, other) => Number(other.is_directory) - Number(one.is_directory));
}

/** Whether a path is a directory or below it. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

/** The directories from the root to the path, both included. */
function pathsBetween(root: string, path: string): string[] {
  const names = path.slice(root.length).split('/').filter(Boolean);
  const base = root === '/' ? '' : root;
  return [root, ...names.map((_, place) => `${base}/${names.slice(0, place + 1).join('/')}`)];
}
