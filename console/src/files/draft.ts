/** Keeps a text that a person has not saved, as long as the tab is open. */

export interface Draft {
  readonly text: string;
  /** Of the file that the text began from; null for a file that did not exist. */
  readonly etag: string | null;
}

const nameOf = (path: string) => `boxkeep.draft:${path}`;

export function keptDraft(path: string): Draft | null {
  try {
    const kept = sessionStorage.getItem(nameOf(path));
    return kept === null ? null : (JSON.parse(kept) as Draft);
  } catch {
    return null; // A browser may deny storage to a page inside a frame.
  }
}

/** False where the browser has no room for it. Null removes the draft. */
export function keepDraft(path: string, draft: Draft | null): boolean {
  try {
    if (draft === null) sessionStorage.removeItem(nameOf(path));
    else sessionStorage.setItem(nameOf(path), JSON.stringify(draft));
    return true;
  } catch {
    return false; // The store is full, or denied to a page inside a frame.
  }
}
