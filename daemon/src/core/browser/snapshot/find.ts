/** Finds the nodes of a tree that have a role, a name or a text. */
import type { SnapshotNode } from './tree.ts';

/** Every given part has to match. Names and texts match anywhere, upper and lower case alike. */
export interface Query {
  readonly role: string | null;
  readonly name: string | null;
  readonly text: string | null;
}

export interface Match extends Omit<SnapshotNode, 'children' | 'omitted' | 'textRef'> {
  /** The nodes above that have a name, such as `form "Login"`, from the outermost on. */
  readonly path: readonly string[];
}

export interface Matches {
  readonly matches: readonly Match[];
  /** All nodes that match, listed or not. */
  readonly total: number;
}

const maxMatches = 200;

export function findAll(root: SnapshotNode, query: Query): Matches {
  const wanted = { role: query.role, name: folded(query.name), text: folded(query.text) };
  const matches: Match[] = [];
  let total = 0;
  const search = (node: SnapshotNode, path: readonly string[], nearestRef: string | null) => {
    const ref = node.ref ?? nearestRef;
    if (isMatch(node, wanted)) {
      total += 1;
      const { role, name, value, states, textRef } = node;
      // An option of a closed menu is reached through the menu.
      if (matches.length < maxMatches) matches.push({ role, name, ref: textRef ?? ref, value, states, path });
    }
    const inner =
      node.name !== '' && node.children.length > 0 ? [...path, `${node.role} ${JSON.stringify(node.name)}`] : path;
    for (const child of node.children) search(child, inner, ref);
  };
  search(root, [], null);
  return { matches, total };
}

/** True when a node of the tree matches. */
export function hasMatch(root: SnapshotNode, query: Query): boolean {
  const wanted = { role: query.role, name: folded(query.name), text: folded(query.text) };
  const isIn = (node: SnapshotNode): boolean => isMatch(node, wanted) || node.children.some(isIn);
  return isIn(root);
}

function isMatch(node: SnapshotNode, { role, name, text }: Query): boolean {
  if (role !== null && node.role !== role) return false;
  if (name !== null && !node.name.toLowerCase().includes(name)) return false;
  if (text === null) return true;
  return node.name.toLowerCase().includes(text) || (node.value ?? '').toLowerCase().includes(text);
}

function folded(text: string | null): string | null {
  return text === null ? null : text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
