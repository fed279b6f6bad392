/** Reads the text of an agent-browser snapshot as a tree. */
import type { SnapshotNode } from '../../snapshot/tree.ts';

/** A node while the tree is built. */
interface GrowingNode extends SnapshotNode {
  readonly children: GrowingNode[];
}

/** Indent, role, name, attributes and value, as in `  - textbox "Name" [required, ref=e4]: old`. */
const line = /^( *)- (\S+?)(?: ("(?:[^"\\]|\\.)*"))?(?: \[([^\]]*)\])?(?:: (.*))?$/;

export function snapshotTree(text: string, title: string): SnapshotNode {
  const root: GrowingNode = { role: 'document', name: title, ref: null, value: null, states: [], children: [] };
  const above: GrowingNode[] = [root];
  for (const row of text.split('\n')) {
    const match = line.exec(row);
    if (!match) continue;
    const [, indent = '', role = '', name = '""', attributes = '', value = null] = match;
    const parts = attributes.split(', ').filter(Boolean);
    const ref = parts.find((part) => part.startsWith('ref='))?.slice('ref='.length) ?? null;
    const states = parts.flatMap((part) => stateOf(part));
    const node: GrowingNode = { role, name: nameOf(name), ref, value, states, children: [] };
    const depth = indent.length / 2;
    (above[depth] ?? root).children.push(node);
    above.splice(depth + 1, above.length, node);
  }
  return root;
}

function stateOf(part: string): string[] {
  if (part.startsWith('ref=') || part.endsWith('=false')) return [];
  return [part.replace(/=true$/, '')];
}

function nameOf(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    // The CLI escapes less than JSON does.
    return quoted.slice(1, -1);
  }
}
