/** The page at `#/files`: the tree of files, and at `#/files/<path>` a directory, a text, a picture or other bytes. */
import type { FileEntry, FileStat, Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { picture } from '../forms/answer-view.ts';
import { reasonOf } from '../frame/hint.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { FileActions } from './file-actions.ts';
import { directoriesFirst, FileTree, isWithin } from './file-tree.ts';
import { TextView } from './text-view.ts';
import { joined, nameOf, sizeOf, Transfers } from './transfers.ts';

/** What the editor takes at most, in bytes; a larger file is downloaded. */
const maxTextBytes = 4 * 1024 * 1024;
const maxPictureBytes = 32 * 1024 * 1024;
const maxEntries = 1000;
/** The time is left out where the window is narrow. */
const columns = [{}, {}, { class: 'wide' }];

export class FilesPage implements Page {
  readonly #tree: FileTree;
  readonly #transfers: Transfers;
  readonly #actions: FileActions;
  readonly #content = element('main', { class: 'file' });
  readonly #facts = element('span', { class: 'note' });
  #text: TextView | null = null;
  /** Counts what has been opened: a person may choose another file while one is read. */
  #turn = 0;

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private path: string,
  ) {
    this.#tree = new FileTree(box);
    this.#transfers = new Transfers(box);
    this.#actions = new FileActions(box, (directory, path) => this.#changed(directory, path));
  }

  async show(): Promise<void> {
    const turn = ++this.#turn;
    const { workspace_dir: workspace } = (await this.box.orThrow.info()).data;
    const stat = (await this.box.orThrow.files.stat(this.path || workspace)).data;
    if (turn !== this.#turn) return;
    this.path = stat.path;
    document.title = stat.path;
    this.place.replaceChildren(element('div', { class: 'files' }, this.#tree.place, this.#content));
    await this.#tree.show(isWithin(workspace, stat.path) ? workspace : '/', stat.path);
    if (turn === this.#turn) await this.#open(stat, turn);
  }

  /** The tree stays as the person has opened it. */
  async goTo(path: string): Promise<void> {
    this.path = path;
    await this.show();
  }

  close(): void {
    this.#turn += 1;
    this.#text?.close();
    this.#transfers.close();
  }

  async #open(stat: FileStat, turn: number): Promise<void> {
    this.#text?.close();
    this.#text = null;
    const body = element('div', { class: 'content' });
    this.#actions.problem.hidden = true;
    const parts = [this.#header(stat), this.#actions.problem, this.#transfers.place, body];
    this.#content.replaceChildren(...parts);
    if (stat.is_directory) return await this.#list(stat.path, body);
    if (stat.mime?.startsWith('image/') === true && stat.size <= maxPictureBytes) {
      const bytes = await (await this.box.orThrow.files.download(stat.path)).bytes();
      const content = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: stat.mime });
      if (turn === this.#turn) body.append(picture(content, nameOf(stat.path)));
    } else if (stat.size <= maxTextBytes) await this.#edit(stat, body, turn);
    else body.append(element('p', { class: 'note' }, `${sizeOf(stat.size)} are too much for the editor. Download it.`));
  }

  async #edit({ path }: FileStat, body: HTMLElement, turn: number): Promise<void> {
    const view = new TextView(this.box, path, () => void this.#readFacts(path, turn));
    try {
      await view.show(body);
      if (turn === this.#turn) this.#text = view;
      else view.close();
    } catch (error) {
      body.append(element('p', { class: 'note' }, `No editor for this file: ${reasonOf(error)}`));
    }
  }

  async #readFacts(path: string, turn: number): Promise<void> {
    const stat = await this.box.files.stat(path);
    if (stat.ok && turn === this.#turn) this.#facts.textContent = factsOf(stat.body.data);
  }

  #header(stat: FileStat): HTMLElement {
    const { path, is_directory: isDirectory } = stat;
    this.#facts.textContent = factsOf(stat);
    const download = () =>
      void (isDirectory ? this.#transfers.downloadDirectory(path) : this.#transfers.download(path));
    return element(
      'header',
      {},
      element('h1', {}, ...steps(path)),
      this.#facts,
      element('a', { href: addressOf('watch', path) }, 'Changes'),
      element('button', { type: 'button', onClick: download }, isDirectory ? 'Download as tar' : 'Download'),
      ...this.#actions.buttons(stat),
    );
  }

  async #list(path: string, body: HTMLElement): Promise<void> {
    const { files, truncated } = (await this.box.orThrow.files.list(path, { limit: maxEntries })).data;
    const picker = element('input', { type: 'file', label: 'Upload files' });
    picker.multiple = true;
    picker.addEventListener('change', () => void this.#upload([...(picker.files ?? [])], path));
    const drop = element('p', { class: 'drop' }, 'Drop files here, or choose them: ', picker);
    const rows = directoriesFirst(files).map(row);
    body.append(drop, element('table', {}, headings(), ...rows));
    if (truncated) body.append(element('p', { class: 'note' }, `Only the first ${maxEntries} entries are shown.`));
    body.addEventListener('dragover', (event) => event.preventDefault());
    body.addEventListener('drop', (event) => {
      event.preventDefault();
      void this.#upload([...(event.dataTransfer?.files ?? [])], path);
    });
  }

  async #upload(files: readonly File[], directory: string): Promise<void> {
    await this.#transfers.upload(files, directory);
    if (directory === this.path) await this.#changed(directory, directory);
  }

  /** Shows a path, which may be the one that is shown, after the content of a directory has changed. */
  async #changed(directory: string, path: string): Promise<void> {
    await this.#tree.refresh(directory, path);
    if (path === this.path) await this.show();
    else location.hash = addressOf('files', path);
  }
}

function factsOf({ is_directory: isDirectory, size, modified_time: modified }: FileStat): string {
  return [...(isDirectory ? [] : [sizeOf(size)]), new Date(modified).toLocaleString()].join(', ');
}

/** The path as links to the directories above. */
function steps(path: string): Node[] {
  const names = path.split('/').filter(Boolean);
  const links = names.map((name, place) => {
    const above = `/${names.slice(0, place + 1).join('/')}`;
    return element('a', { href: addressOf('files', above) }, element('bdi', {}, name));
  });
  const root = element('a', { href: addressOf('files', '/'), label: 'The root directory' }, '/');
  return [root, ...links.flatMap((link, place) => (place === 0 ? [link] : [document.createTextNode('/'), link]))];
}

function headings(): HTMLElement {
  return element('tr', {}, ...['Name', 'Size', 'Modified'].map((name, column) => element('th', columns[column], name)));
}

function row({ name, path, is_directory: isDirectory, size, modified_time: modified }: FileEntry): HTMLElement {
  const link = element(
    'a',
    { href: addressOf('files', path) },
    element('bdi', {}, isDirectory ? joined(name, '') : name),
  );
  const cells = [
    link,
    isDirectory || size === null ? '' : sizeOf(size),
    modified ? new Date(modified).toLocaleString() : '',
  ];
  return element('tr', {}, ...cells.map((cell, column) => element('td', columns[column], cell)));
}
