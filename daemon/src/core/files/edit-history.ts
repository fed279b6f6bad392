/** What files held before they were edited, so that the last edits can be taken back. It lives as long as the daemon. */

export interface Edition {
  /** null where there was no file. */
  readonly oldText: string | null;
  /** The entity tag that the edit left the file with. */
  readonly etag: string;
}

const mostPerFile = 20;
/** Of all that is kept, in UTF-16 code units. */
const mostLength = 32 * 1024 * 1024;

export class EditHistory {
  /** Those of the file that was edited last come last. */
  readonly #byKey = new Map<string, Edition[]>();
  #length = 0;

  add(key: string, edition: Edition): void {
    const editions = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    this.#byKey.set(key, editions);
    editions.push(edition);
    this.#length += lengthOf(edition);
    if (editions.length > mostPerFile) this.#dropOldest(key, editions);
    for (const [oldest, theirs] of this.#byKey) {
      if (this.#length <= mostLength) break;
      while (theirs.length > 0 && this.#length > mostLength) this.#dropOldest(oldest, theirs);
    }
  }

  last(key: string): Edition | null {
    return this.#byKey.get(key)?.at(-1) ?? null;
  }

  /** The last one was taken back; the file has this entity tag now. */
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

/** What an edition takes beside its text: a new file has none, and there may be very many. */
const recordLength = 256;

function lengthOf(edition: Edition | undefined): number {
  return edition ? recordLength + (edition.oldText?.length ?? 0) : 0;
}
