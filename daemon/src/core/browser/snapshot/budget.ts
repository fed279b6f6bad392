/** Fits a tree into an exact number of bytes: nodes nearest to the root first, and a count where nodes are left out. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import { lineOf, omittedMark, textOf } from './text.ts';
import { countBelow, type SnapshotNode } from './tree.ts';

export type SnapshotFormat = 'tree' | 'text';

/** The parts of the tree that an answer omits. */
export interface Truncation {
  readonly nodes: number;
  /** Bytes that the nodes would have added to the answer. */
  readonly bytes: number;
}

interface Fitted {
  readonly root: SnapshotNode;
  readonly truncated: Truncation | null;
}

/** A node in the order in which nodes are admitted. */
interface Entry {
  readonly node: SnapshotNode;
  readonly parent: Entry | null;
  readonly bytes: number;
  /** Bytes of the longest count of omitted nodes that the node may need. */
  readonly markBytes: number;
  childrenLeft: number;
}

/** `maxBytes` bounds the JSON text of the answer's data, in UTF-8. Throws when not even the root fits. */
export function fit(root: SnapshotNode, format: SnapshotFormat, maxBytes: number): Fitted {
  const whole = serializedBytes(root, format);
  if (whole <= maxBytes) return { root, truncated: null };
  const entries = entriesOf(root, format);
  const admitted = admit(entries, maxBytes);
  if (admitted === 0) {
    throw new CoreError('bad_argument', `is ${maxBytes}, and the root alone takes ${minimumBytes(entries)} bytes`, {
      argument: 'maxBytes',
      advice: advise`Raise ${'maxBytes'}, or pass the ${'rootRef'} of a smaller part.`,
    });
  }
  const included = new Set(entries.slice(0, admitted).map(({ node }) => node));
  const fitted = keepOnly(root, included);
  const left = entries.slice(admitted);
  const bytes = left.reduce((sum, entry) => sum + entry.bytes, 0);
  return { root: fitted, truncated: { nodes: left.length, bytes } };
}

export function serializedBytes(root: SnapshotNode, format: SnapshotFormat): number {
  return Buffer.byteLength(JSON.stringify(format === 'tree' ? root : textOf(root)));
}

/** The nodes by depth, and in their order at each depth. */
function entriesOf(root: SnapshotNode, format: SnapshotFormat): Entry[] {
  const counts = new Map<SnapshotNode, number>();
  countAll(root, counts);
  const entries: Entry[] = [];
  let level: { node: SnapshotNode; parent: Entry | null; isFirst: boolean }[] = [
    { node: root, parent: null, isFirst: true },
  ];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const { node, parent, isFirst } of level) {
      const below = counts.get(node) ?? 0;
      const bytes = ownBytes(node, format, depth) + (isFirst || format === 'text' ? 0 : 1);
      const entry = { node, parent, bytes, markBytes: markBytes(below, format), childrenLeft: node.children.length };
      entries.push(entry);
      for (const [index, child] of node.children.entries())
        next.push({ node: child, parent: entry, isFirst: index === 0 });
    }
    level = next;
  }
  return entries;
}

/** The nodes below each node, counted once for the whole tree. */
function countAll(node: SnapshotNode, counts: Map<SnapshotNode, number>): number {
  let below = 0;
  for (const child of node.children) below += 1 + countAll(child, counts);
  counts.set(node, below);
  return below;
}

/** The quotes of a line take as many bytes as its escaped end in the whole text does. */
function ownBytes(node: SnapshotNode, format: SnapshotFormat, depth: number): number {
  return Buffer.byteLength(JSON.stringify(format === 'text' ? lineOf(node, depth) : { ...node, children: [] }));
}

function markBytes(below: number, format: SnapshotFormat): number {
  if (below === 0) return 0;
  return format === 'text' ? omittedMark(below).length : `,"omitted":${below}`.length;
}

/** The number of entries that fit into the budget. */
function admit(entries: readonly Entry[], maxBytes: number): number {
  let bytes = 0;
  let marks = 0;
  let admitted = 0;
  for (const [index, entry] of entries.entries()) {
    bytes += entry.bytes;
    if (bytes > maxBytes) break;
    marks += entry.markBytes;
    if (entry.parent && --entry.parent.childrenLeft === 0) marks -= entry.parent.markBytes;
    if (bytes + marks <= maxBytes) admitted = index + 1;
  }
  return admitted;
}

function minimumBytes([root]: readonly Entry[]): number {
  return root ? root.bytes + root.markBytes : 0;
}

function keepOnly(node: SnapshotNode, included: ReadonlySet<SnapshotNode>): SnapshotNode {
  const kept = node.children.filter((child) => included.has(child));
  const children = kept.map((child) => keepOnly(child, included));
  const left = node.children.filter((child) => !included.has(child));
  const omitted = (node.omitted ?? 0) + left.reduce((sum, child) => sum + 1 + countBelow(child), 0);
  return { ...node, children, ...(omitted > 0 && { omitted }) };
}
