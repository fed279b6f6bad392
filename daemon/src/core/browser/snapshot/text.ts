/** Renders a tree as indented lines, one for each node. */
import type { SnapshotNode } from './tree.ts';

export function textOf(root: SnapshotNode): string {
  const lines: string[] = [];
  addLines(root, 0, lines);
  return lines.join('\n');
}

function addLines(node: SnapshotNode, depth: number, lines: string[]): void {
  lines.push(lineOf(node, depth));
  for (const child of node.children) addLines(child, depth + 1, lines);
}

/** Formats a node, for example `- textbox "Name" [ref=e12-k3x9a] [required]: Ada`. */
export function lineOf({ role, name, ref, value, states, omitted }: SnapshotNode, depth: number): string {
  const parts = [`${'  '.repeat(depth)}- ${role}`];
  if (role === 'text') parts.push(`: ${oneLine(name)}`);
  else if (name !== '') parts.push(` ${JSON.stringify(name)}`);
  if (ref !== null) parts.push(` [ref=${ref}]`);
  for (const state of states) parts.push(` [${state}]`);
  if (value !== null && value !== '') parts.push(`: ${oneLine(value)}`);
  if (omitted !== undefined) parts.push(omittedMark(omitted));
  return parts.join('');
}

export function omittedMark(count: number): string {
  return ` (+${count} nodes)`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ');
}
