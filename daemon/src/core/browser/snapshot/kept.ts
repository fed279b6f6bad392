/** Keeps the last snapshots of a page for comparisons, bounded by count and size. */
import { randomBytes } from '../../../kit/crypto.ts';
import type { TreeNode } from './tree.ts';

export interface KeptSnapshot {
  readonly id: string;
  readonly root: TreeNode;
}

const maxKept = 4;
/** A larger page is not kept, and a comparison with it gives the whole tree. */
const maxNodes = 20_000;

export class KeptSnapshots {
  #kept: readonly KeptSnapshot[] = [];

  keep(root: TreeNode, nodes: number): KeptSnapshot {
    const snapshot = { id: `s${randomBytes(5).toString('hex')}`, root };
    if (nodes <= maxNodes) this.#kept = [...this.#kept, snapshot].slice(-maxKept);
    return snapshot;
  }

  find(id: string): KeptSnapshot | null {
    return this.#kept.find((snapshot) => snapshot.id === id) ?? null;
  }
}
