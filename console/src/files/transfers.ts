/** Uploads and downloads of the files view, each with its progress in a list. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { reasonOf } from '../frame/hint.ts';
import { isAgreed } from '../frame/question.ts';
import { fetchWithProgress } from './sent-request.ts';

export class Transfers {
  readonly place = element('ul', { class: 'transfers', label: 'Transfers' });
  readonly #closing = new AbortController();

  constructor(private readonly box: Sandbox) {}

  /** Asks before a file is replaced. */
  async upload(files: readonly File[], directory: string): Promise<void> {
    for (const file of files) {
      const path = joined(directory, file.name);
      const isThere = (await this.box.files.stat(path)).ok;
      if (isThere && !(await isAgreed(`Replace ${path}?`, 'Replace'))) continue;
      await this.#follow(`Upload of ${file.name}`, file.size, async (onProgress) => {
        const options = { signal: this.#closing.signal, fetch: fetchWithProgress(onProgress) };
        await this.box.orThrow.files.upload(file, path, {}, options);
      });
    }
  }

  async download(path: string): Promise<void> {
    const download = await this.box.orThrow.files.download(path, {}, { signal: this.#closing.signal });
    await this.#follow(`Download of ${nameOf(path)}`, download.size, async (onProgress) => {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      let bytes = 0;
      for await (const piece of download) {
        pieces.push(new Uint8Array(piece));
        onProgress((bytes += piece.length));
      }
      save(new Blob(pieces), nameOf(path));
    });
  }

  /** A directory as a tar archive, whose size is not known before its end. */
  async downloadDirectory(path: string): Promise<void> {
    const name = `${nameOf(path) || 'root'}.tar`;
    await this.#follow(`Download of ${name}`, null, async (onProgress) => {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      const target = new WritableStream<Uint8Array>({ write: (piece) => void pieces.push(new Uint8Array(piece)) });
      const options = { signal: this.#closing.signal, onProgress };
      await this.box.orThrow.files.downloadDirectory(path, target, {}, options);
      save(new Blob(pieces, { type: 'application/x-tar' }), name);
    });
  }

  close(): void {
    this.#closing.abort();
  }

  async #follow(
    what: string,
    size: number | null,
    transfer: (onProgress: (bytes: number) => void) => Promise<void>,
  ): Promise<void> {
    const bar = element('progress', { label: what });
    if (size !== null) bar.max = Math.max(size, 1);
    const state = element('span', { class: 'note' });
    state.setAttribute('role', 'status');
    this.place.prepend(element('li', {}, element('bdi', {}, what), ' ', bar, ' ', state));
    try {
      await transfer((bytes) => {
        if (size !== null) bar.value = bytes;
        state.textContent = size === null ? sizeOf(bytes) : `${sizeOf(bytes)} of ${sizeOf(size)}`;
      });
      bar.max = bar.value = 1;
      state.textContent = 'done';
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      bar.remove();
      state.className = 'wrong';
      state.textContent = reasonOf(error);
    }
  }
}

export function sizeOf(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

export function nameOf(path: string): string {
  return path.split('/').findLast(Boolean) ?? '';
}

export function joined(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = element('a', { href: url });
  link.download = name;
  link.click();
  // The browser has taken the content when the click returns, and reads it later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
