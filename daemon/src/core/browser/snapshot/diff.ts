/** Compares two trees of a page and lists the nodes that were added, removed or changed. */
import type { SnapshotNode } from './tree.ts';

export interface SnapshotDiff {
  /** Each with everything below it, and the ref of the nearest older node above it. */
  readonly added: readonly AddedNode[];
  readonly removed: readonly RemovedNode[];
  readonly changed: readonly ChangedNode[];
}

export interface AddedNode extends SnapshotNode {
  readonly parent: string | null;
}

export interface RemovedNode extends Pick<SnapshotNode, 'role' | 'name' | 'ref'> {
  /** The ref of the nearest node above it that is still there. */
  readonly parent: string | null;
}

type Fields = Omit<SnapshotNode, 'children' | 'omitted'>;

export interface ChangedNode extends Fields {
  readonly before: Omit<Fields, 'ref'>;
}

interface Placed {
  readonly node: SnapshotNode;
  readonly key: string;
  readonly parent: string | null;
  readonly parentKey: string | null;
}

export function diffOf(before: SnapshotNode, after: SnapshotNode): SnapshotDiff {
  const former = placed(before);
  const present = placed(after);
  const added = [...present.values()].filter(({ key, parentKey }) => !former.has(key) && isOld(parentKey, former));
  const removed = [...former.values()].filter(({ key, parentKey }) => !present.has(key) && isOld(parentKey, present));
  const changed = [...present.values()].flatMap(({ key, node }) => {
    const old = former.get(key)?.node;
    return old && !isSame(old, node) ? [changeOf(old, node)] : [];
  });
  return {
    added: added.map(({ node, parent }) => ({ ...node, parent })),
    removed: removed.map(({ node: { role, name, ref }, parent }) => ({ role, name, ref, parent })),
    changed,
  };
}

/** The topmost node of a part stands for the whole part. */
function isOld(parentKey: string | null, others: ReadonlyMap<string, Placed>): boolean {
  return parentKey === null || others.has(parentKey);
}

/** A node is the same one while it has the same ref; one without a ref, while its text and its parent are the same. */
function placed(root: SnapshotNode): Map<string, Placed> {
  const nodes = new Map<string, Placed>();
  const counts = new Map<string, number>();
  const add = (node: SnapshotNode, parent: string | null, parentKey: string | null) => {
    const name = node.ref ?? `${parentKey}/${node.role} ${node.name}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const key = count === 1 ? name : `${name}#${count}`;
    nodes.set(key, { node, key, parent, parentKey });
    for (const child of node.children) add(child, node.ref ?? parent, key);
  };
  add(root, null, null);
  return nodes;
}

function isSame(a: SnapshotNode, b: SnapshotNode): boolean {
  if (a.role !== b.role || a.name !== b.name || a.value !== b.value || a.states.length !== b.states.length)
    return false;
  return a.states.every((state, index) => state === b.states[index]);
}

function changeOf(old: SnapshotNode, { role, name, ref, value, states }: SnapshotNode): ChangedNode {
  return {
    role,
    name,
    ref,
    value,
    states,
    before: { role: old.role, name: old.name, value: old.value, states: old.states },
  };
}
