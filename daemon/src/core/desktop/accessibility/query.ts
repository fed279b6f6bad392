/** What a client asks of the accessibility tree, and what comes back. */
import type { Area } from '../actions/action.ts';

export interface NodeQuery {
  readonly scope: 'foreground' | 'desktop';
  readonly role: string | null;
  readonly name: string | null;
  readonly match: 'substring' | 'exact' | 'regex';
  /** A node has all of these states. */
  readonly states: readonly string[];
  readonly includesOffscreen: boolean;
  readonly maxDepth: number;
  readonly maxNodes: number;
  readonly timeoutMs: number;
  /** Most nodes of a search that are returned. */
  readonly limit: number;
  /** The node to begin with; null for the scope. */
  readonly nodeId: string | null;
}

export interface AccessibleNode {
  /** Stable while the object lives. */
  readonly id: string;
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly value: string | null;
  readonly states: readonly string[];
  readonly actions: readonly string[];
  /** Null for a node that is not on the screen. */
  readonly bounds: Area | null;
}

export interface AccessibleTree extends AccessibleNode {
  readonly children: readonly AccessibleTree[];
}

export interface TreeReading {
  readonly roots: readonly AccessibleTree[];
  readonly nodeCount: number;
  /** True when a limit of the query cut the tree. */
  readonly isTruncated: boolean;
}

export interface NodeReading {
  readonly nodes: readonly AccessibleNode[];
  readonly isTruncated: boolean;
}
