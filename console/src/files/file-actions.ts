/** What a person does with a path in the files view: makes, renames and deletes. */
import type { FileStat, Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { reasonOf } from '../frame/hint.ts';
import { askForText, isAgreed } from '../frame/question.ts';
import { keepDraft, keptDraft } from './draft.ts';
import { joined, nameOf, sizeOf } from './transfers.ts';

/** So many names of what a directory has are in the question before it is deleted. */
const maxNamed = 5;

export class FileActions {
  /** Why the last action has failed. */
  readonly problem = element('p', { class: 'wrong' });

  constructor(
    private readonly box: Sandbox,
    /** Shows a path, after what is in the directory has changed. */
    private readonly onChange: (directory: string, path: string) => Promise<void>,
  ) {
    this.problem.setAttribute('role', 'alert');
    this.problem.hidden = true;
  }

  buttons({ path, is_directory: isDirectory }: FileStat): HTMLElement[] {
    const button = (name: string, action: () => Promise<void>) =>
      element('button', { type: 'button', onClick: () => void this.#try(action) }, name);
    const within = [
      button('New file', () => this.#makeFile(path)),
      button('New directory', () => this.#makeDirectory(path)),
    ];
    const itself = [button('Rename', () => this.#rename(path)), button('Delete', () => this.#delete(path))];
    return [...(isDirectory ? within : []), ...(path === '/' ? [] : itself)];
  }

  async #makeFile(directory: string): Promise<void> {
    const path = await this.#askForPath(`Name of a new file in ${directory}`, 'Create', directory);
    if (path === null) return;
    await this.box.orThrow.files.write(path, '', { if_none_match: '*' });
    await this.onChange(directory, path);
  }

  async #makeDirectory(directory: string): Promise<void> {
    const path = await this.#askForPath(`Name of a new directory in ${directory}`, 'Create', directory);
    if (path === null) return;
    await this.box.orThrow.files.makeDirectory(path);
    await this.onChange(directory, path);
  }

  async #rename(path: string): Promise<void> {
    const directory = parentOf(path);
    const renamed = await this.#askForPath(`New name of ${path}`, 'Rename', directory, nameOf(path));
    if (renamed === null || renamed === path) return;
    const before = (await this.box.orThrow.files.stat(path)).data;
    await this.box.orThrow.files.move(path, renamed);
    await this.#moveDraft(before, renamed);
    await this.onChange(directory, renamed);
  }

  /** A text that is not saved goes with its file. A rename is a change of the file, and no reason to ask at a save. */
  async #moveDraft(before: FileStat, renamed: string): Promise<void> {
    const draft = keptDraft(before.path);
    if (draft === null) return;
    const { data: now } = await this.box.orThrow.files.stat(renamed);
    const isSame = (['inode', 'size', 'modified_time'] as const).every((fact) => now[fact] === before[fact]);
    const etag = isSame && draft.etag === before.etag ? now.etag : draft.etag;
    if (keepDraft(renamed, { ...draft, etag })) keepDraft(before.path, null);
  }

  async #delete(path: string): Promise<void> {
    // The page may show the path as it was some time ago.
    const { data: stat } = await this.box.orThrow.files.stat(path);
    if (!(await isAgreed(await this.#whatGoes(stat), 'Delete'))) return;
    await this.box.orThrow.files.delete(path, { recursive: true });
    keepDraft(path, null);
    const directory = parentOf(path);
    await this.onChange(directory, directory);
  }

  async #whatGoes({ path, is_directory: isDirectory, is_symlink: isLink, size }: FileStat): Promise<string> {
    if (isLink) return `Delete the link ${path}? Its target stays.`;
    if (!isDirectory) return `Delete ${path} (${sizeOf(size)})?`;
    const { files, total_count: count } = (
      await this.box.orThrow.files.list(path, { recursive: true, limit: maxNamed })
    ).data;
    if (count === 0) return `Delete the empty directory ${path}?`;
    const names = files.map((entry) => entry.path.slice(path.length + 1)).join(', ');
    const more = count > files.length ? ` and ${count - files.length} more` : '';
    return `Delete the directory ${path} with everything in it: ${names}${more}?`;
  }

  async #askForPath(question: string, verb: string, directory: string, proposal = ''): Promise<string | null> {
    const name = await askForText(question, verb, proposal);
    if (name === null) return null;
    if (name.includes('/') || ['', '.', '..'].includes(name)) throw new Error(`“${name}” cannot be a name.`);
    return joined(directory, name);
  }

  async #try(action: () => Promise<void>): Promise<void> {
    this.problem.hidden = true;
    try {
      await action();
    } catch (error) {
      this.problem.textContent = reasonOf(error);
      this.problem.hidden = false;
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
