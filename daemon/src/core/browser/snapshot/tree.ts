/** The accessibility tree of a page as the daemon answers it, and the parts of it that a caller selects. */

export interface SnapshotNode {
  readonly role: string;
  readonly name: string;
  /** Null for text and for options of a closed menu, which nothing can act on. */
  readonly ref: string | null;
  readonly value: string | null;
  readonly states: readonly string[];
  readonly children: readonly SnapshotNode[];
  /** The ref of a text itself, only in a tree that is searched. */
  readonly textRef?: string;
  /** Nodes below this one that the answer leaves out. */
  readonly omitted?: number;
}

/** A node while the tree is built. */
export interface TreeNode extends SnapshotNode {
  readonly children: TreeNode[];
  readonly isInteractive: boolean;
}

export interface Selection {
  readonly interactiveOnly: boolean;
  /** Levels below the root; null for all. */
  readonly depth: number | null;
}

/** Roles that an answer with only interactive nodes keeps, because they say where the nodes are. */
const contextRoles = new Set(['iframe', 'dialog', 'alertdialog']);

export function select(root: TreeNode, { interactiveOnly, depth }: Selection): SnapshotNode {
  const selected = interactiveOnly ? interactiveTree(root) : root;
  return depth === null ? wireNode(selected) : limitDepth(selected, depth);
}

export function interactiveRefs({ ref, isInteractive, children }: TreeNode): readonly string[] {
  return [...(isInteractive && ref !== null ? [ref] : []), ...children.flatMap(interactiveRefs)];
}

/** The root with what can be acted on, and what says where that is. */
export function interactiveTree(root: TreeNode): TreeNode {
  return { ...root, children: root.children.flatMap(interactiveParts) };
}

/** An interactive node, or those below a node that is not. */
function interactiveParts(node: TreeNode): TreeNode[] {
  const children = node.children.flatMap(interactiveParts);
  const isContext = contextRoles.has(node.role) && children.length > 0;
  return node.isInteractive || isContext ? [{ ...node, children }] : children;
}

function limitDepth(node: TreeNode, depth: number): SnapshotNode {
  if (depth > 0) return { ...wireFields(node), children: node.children.map((child) => limitDepth(child, depth - 1)) };
  const omitted = countBelow(node);
  return { ...wireFields(node), children: [], ...(omitted > 0 && { omitted }) };
}

function wireNode(node: TreeNode): SnapshotNode {
  return { ...wireFields(node), children: node.children.map(wireNode) };
}

function wireFields({ role, name, ref, value, states, textRef }: SnapshotNode): Omit<SnapshotNode, 'children'> {
  return { role, name, ref, value, states, ...(textRef !== undefined && { textRef }) };
}

export function countBelow(node: SnapshotNode): number {
  let count = 0;
  for (const child of node.children) count += 1 + countBelow(child);
  return count;
}

/** The node and all below it, in order. */
export function* nodesOf(node: SnapshotNode): Generator<SnapshotNode> {
  yield node;
  for (const child of node.children) yield* nodesOf(child);
}
