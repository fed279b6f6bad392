/** Writes files for a test from a table: text, bytes, null for a directory, `{ to }` for a link. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type TreeNode = string | Uint8Array | null | { readonly to: string };

export function plantTree(root: string, tree: Readonly<Record<string, TreeNode>>): string {
  mkdirSync(root, { recursive: true });
  for (const [name, node] of Object.entries(tree)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    if (node === null) mkdirSync(path);
    else if (typeof node === 'string' || node instanceof Uint8Array) writeFileSync(path, node);
    else symlinkSync(node.to, path);
  }
  return root;
}
