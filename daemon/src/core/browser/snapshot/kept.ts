/** Keeps the last snapshots of each page for comparisons, bounded by count and size. */
import { randomBytes } from 'node:crypto';
import type { Page } from '../page.ts';
import type { TreeNode } from './tree.ts';

export interface KeptSnapshot {
  readonly id: string;
  readonly root: TreeNode;
}

const maxPerPage = 4;
/** A larger page is not kept, and a comparison with it gives the whole tree. */
const maxNodes = 20_000;

export class KeptSnapshots {
  /** The snapshots of a page go when the daemon disconnects from the page. */
  readonly #byPage = new WeakMap<Page, KeptSnapshot[]>();

  keep(page: Page, root: TreeNode, nodes: number): KeptSnapshot {
    const snapshot = { id: `s${randomBytes(5).toString('hex')}`, root };
    if (nodes > maxNodes) return snapshot;
    const kept = this.#byPage.get(page) ?? [];
    this.#byPage.set(page, [...kept, snapshot].slice(-maxPerPage));
    return snapshot;
  }

  find(page: Page, id: string): KeptSnapshot | null {
    return this.#byPage.get(page)?.find((snapshot) => snapshot.id === id) ?? null;
  }
}
