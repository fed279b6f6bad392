/** Keeps the previous texts of edited files in memory, so that clients can undo recent edits. */
import type { DecodedText } from '../read/text-encoding.ts';

export interface Edition {
  /** null when the file did not exist. */
  readonly old: DecodedText | null;
  /** The entity tag of the file after the edit. */
  readonly etag: string;
}

const maxPerFile = 20;
/** Maximum total length of the kept texts, in UTF-16 code units. */
const maxLength = 32 * 1024 * 1024;

export class EditHistory {
  /** Keys in order of their last edit, newest last. */
  readonly #byKey = new Map<string, Edition[]>();
  #length = 0;

  add(key: string, edition: Edition): void {
    const editions = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    this.#byKey.set(key, editions);
    editions.push(edition);
    this.#length += lengthOf(edition);
    if (editions.length > maxPerFile) this.#dropOldest(key, editions);
    for (const [oldest, theirs] of this.#byKey) {
      if (this.#length <= maxLength) break;
      while (theirs.length > 0 && this.#length > maxLength) this.#dropOldest(oldest, theirs);
    }
  }

  last(key: string): Edition | null {
    return this.#byKey.get(key)?.at(-1) ?? null;
  }

  /** Removes the last edit after an undo. `etag` is the current entity tag of the file. */
  takeBack(key: string, etag: string): void {
    const editions = this.#byKey.get(key) ?? [];
    const taken = editions.pop();
    this.#length -= lengthOf(taken);
    const before = editions.pop();
    if (before) editions.push({ ...before, etag });
    else this.#byKey.delete(key);
  }

  #dropOldest(key: string, editions: Edition[]): void {
    this.#length -= lengthOf(editions.shift());
    if (editions.length === 0) this.#byKey.delete(key);
  }
}

/** Length charged for an edit in addition to its text. A created file has no old text, and there may be very many. */
const recordLength = 256;

function lengthOf(edition: Edition | undefined): number {
  return edition ? recordLength + (edition.old?.text.length ?? 0) : 0;
}
