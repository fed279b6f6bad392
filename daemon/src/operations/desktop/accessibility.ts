/** The operations that read what programs tell assistive technology: the tree, and nodes in it. */
import { z } from 'zod';
import type { AccessibleNode, AccessibleTree, NodeQuery } from '../../core/desktop/accessibility/query.ts';
import { operation } from './operation.ts';
import { namedObject } from '../inputs.ts';

const limits = { depth: 64, nodes: 20_000, timeoutMs: 30_000, limit: 500 };

const input = z.object({
  scope: z.enum(['foreground', 'desktop']).default('foreground'),
  role: z.string().optional(),
  name: z.string().optional(),
  match: z.enum(['substring', 'exact', 'regex']).default('substring').describe('How name is compared.'),
  states: z.string().optional().describe('States that a node has all of, with commas.'),
  include_offscreen: z.boolean().default(false),
  max_depth: z.int().default(32).describe(`Clamped to 1 to ${limits.depth}.`),
  max_nodes: z.int().default(5000).describe(`Clamped to 1 to ${limits.nodes}.`),
  timeout_ms: z.int().default(5000).describe(`Clamped to 1 to ${limits.timeoutMs}.`),
  limit: z.int().default(50).describe(`Most nodes of the answer, clamped to 1 to ${limits.limit}.`),
  node_id: z.string().optional().describe('The node to begin with.'),
});

function nodeQuery(given: z.output<typeof input>): NodeQuery {
  const { scope, role = null, name = null, match, states = '', node_id: nodeId = null } = given;
  return {
    ...{ scope, role, name, match, nodeId, includesOffscreen: given.include_offscreen },
    states: states.split(',').flatMap((state) => state.trim() || []),
    maxDepth: clamp(given.max_depth, limits.depth),
    maxNodes: clamp(given.max_nodes, limits.nodes),
    timeoutMs: clamp(given.timeout_ms, limits.timeoutMs),
    limit: clamp(given.limit, limits.limit),
  };
}

function clamp(value: number, limit: number): number {
  return Math.min(Math.max(value, 1), limit);
}

const node = {
  node_id: z.string().describe('Stable while the object lives.'),
  role: z.string(),
  name: z.string(),
  description: z.string(),
  value: z.string().nullable(),
  states: z.array(z.string()),
  actions: z.array(z.string()).describe('For NODE_INVOKE.'),
  bounds: z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() }).nullable(),
};

const NodeView = namedObject('AccessibleNode', node);
const TreeView = z
  .object({
    ...node,
    get children(): z.ZodType<readonly object[]> {
      return z.array(TreeView);
    },
  })
  .meta({ id: 'AccessibleTree' });

function nodeView({ id, role, name, description, value, states, actions, bounds }: AccessibleNode) {
  return { node_id: id, role, name, description, value, states: [...states], actions: [...actions], bounds };
}

function treeView(tree: AccessibleTree): z.input<typeof TreeView> & object {
  return { ...nodeView(tree), children: tree.children.map(treeView) };
}

export const readTree = operation({
  name: 'desktop.accessibility',
  input,
  output: z.object({ nodes: z.array(TreeView), node_count: z.int(), truncated: z.boolean() }),
  errors: ['unavailable', 'bad_argument', 'ref_stale', 'capacity_reached'],
  async run({ desktop }, given, { signal }) {
    const { roots, nodeCount, isTruncated } = await desktop.accessibility(nodeQuery(given), { signal });
    return { nodes: roots.map(treeView), node_count: nodeCount, truncated: isTruncated };
  },
});

export const findNodes = operation({
  name: 'desktop.nodes',
  input,
  output: z.object({ nodes: z.array(NodeView), truncated: z.boolean() }),
  errors: ['unavailable', 'bad_argument', 'ref_stale', 'capacity_reached'],
  async run({ desktop }, given, { signal }) {
    const { nodes, isTruncated } = await desktop.nodes(nodeQuery(given), { signal });
    return { nodes: nodes.map(nodeView), truncated: isTruncated };
  },
});
