/** Walks accessible objects level by level from given roots, within the limits of a query. */
import { isLongList, visibleCells } from './long-list.ts';
import type { NodeQuery } from './query.ts';
import type { AccessibleObject, Children, ObjectReader } from './reader.ts';
import { hasState } from './states.ts';

export interface CollectedNode {
  readonly object: AccessibleObject;
  readonly children: CollectedNode[];
}

export interface Collected {
  readonly roots: readonly CollectedNode[];
  readonly count: number;
  readonly isTruncated: boolean;
}

type Limits = Pick<NodeQuery, 'includesOffscreen' | 'maxDepth' | 'maxNodes'>;

/** Applications are walked side by side, so that one that does not answer leaves the others complete. */
export async function collect(reader: ObjectReader, { objects, isCut }: Children, limits: Limits): Promise<Collected> {
  const walk = new Walk(reader, limits);
  const nodes = objects.slice(0, limits.maxNodes).map((object) => ({ object, children: [] }));
  walk.count = nodes.length;
  walk.isTruncated = isCut || objects.length > nodes.length;
  await Promise.all(nodes.map((root) => walk.from(root)));
  return { roots: nodes, count: walk.count, isTruncated: walk.isTruncated };
}

class Walk {
  count = 0;
  isTruncated = false;

  constructor(
    private readonly reader: ObjectReader,
    private readonly limits: Limits,
  ) {}

  async from(root: CollectedNode): Promise<void> {
    let level = [root];
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth === this.limits.maxDepth) {
        this.isTruncated ||= level.some(({ object }) => object.childCount !== 0);
        return;
      }
      // One child more than there is room for shows that the limit has cut the tree.
      const room = this.limits.maxNodes - this.count + 1;
      const families = await Promise.all(level.map(({ object }) => this.#children(object, room)));
      level = level.flatMap((node, index) => this.#add(node, families[index]!));
    }
  }

  #add(node: CollectedNode, { objects, isCut }: Children): CollectedNode[] {
    const shown = objects.filter((object) => this.limits.includesOffscreen || hasState(object.states, 'showing'));
    const admitted = shown.slice(0, Math.max(0, this.limits.maxNodes - this.count));
    this.isTruncated ||= isCut || admitted.length < shown.length;
    this.count += admitted.length;
    node.children.push(...admitted.map((object) => ({ object, children: [] })));
    return node.children;
  }

  async #children(object: AccessibleObject, max: number): Promise<Children> {
    // Most objects are leaves.
    if (object.childCount === 0) return { objects: [], isCut: false };
    const { reader, limits } = this;
    const isPart = !limits.includesOffscreen && isLongList(object);
    const children = isPart ? visibleCells(reader, object, max) : reader.children(object, max);
    return await reader.calls.inTime(children, { objects: [], isCut: true });
  }
}
