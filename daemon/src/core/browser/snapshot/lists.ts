/** Fits the matches of a query and the changes of a page into a number of bytes, as records or as lines of text. */
import type { SnapshotFormat, Truncation } from './budget.ts';
import type { ChangedNode, SnapshotDiff } from './diff.ts';
import type { Matches } from './find.ts';
import { lineOf, textOf } from './text.ts';
import { countBelow, type SnapshotNode } from './tree.ts';

interface Item<R> {
  readonly record: R;
  readonly line: string;
  /** Nodes that the item shows. */
  readonly nodes: number;
}

interface Fitted<C> {
  readonly content: C | string;
  readonly truncated: Truncation | null;
}

export function fitMatches({ matches, total }: Matches, format: SnapshotFormat, maxBytes: number): Fitted<Matches> {
  const items = matches.map((match) => ({ record: match, line: matchLine(match), nodes: 1 }));
  return fitItems(items, format, maxBytes, (kept) => ({ matches: kept, total }));
}

type Change =
  | { readonly kind: 'changed'; readonly node: SnapshotDiff['changed'][number] }
  | { readonly kind: 'removed'; readonly node: SnapshotDiff['removed'][number] }
  | { readonly kind: 'added'; readonly node: SnapshotDiff['added'][number] };

export function fitDiff(diff: SnapshotDiff, format: SnapshotFormat, maxBytes: number): Fitted<SnapshotDiff> {
  const changes: Change[] = [
    ...diff.changed.map((node) => ({ kind: 'changed', node }) as const),
    ...diff.removed.map((node) => ({ kind: 'removed', node }) as const),
    ...diff.added.map((node) => ({ kind: 'added', node }) as const),
  ];
  const items = changes.map((change) => ({ record: change, line: changeLine(change), nodes: nodesIn(change) }));
  return fitItems(items, format, maxBytes, (kept) => ({
    added: kept.flatMap((change) => (change.kind === 'added' ? [change.node] : [])),
    removed: kept.flatMap((change) => (change.kind === 'removed' ? [change.node] : [])),
    changed: kept.flatMap((change) => (change.kind === 'changed' ? [change.node] : [])),
  }));
}

/** Keeps the items from the first on. A search for their number is exact, because more items take more bytes. */
function fitItems<R, C>(
  items: readonly Item<R>[],
  format: SnapshotFormat,
  maxBytes: number,
  contentOf: (records: readonly R[]) => C,
): Fitted<C> {
  const render = (count: number): C | string =>
    format === 'text'
      ? items
          .slice(0, count)
          .map(({ line }) => line)
          .join('\n')
      : contentOf(items.slice(0, count).map(({ record }) => record));
  const whole = render(items.length);
  if (bytesOf(whole) <= maxBytes) return { content: whole, truncated: null };
  let [low, high] = [0, items.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(render(middle)) <= maxBytes) low = middle;
    else high = middle - 1;
  }
  const content = render(low);
  const nodes = items.slice(low).reduce((sum, item) => sum + item.nodes, 0);
  return { content, truncated: { nodes, bytes: bytesOf(whole) - bytesOf(content) } };
}

function bytesOf(content: unknown): number {
  return Buffer.byteLength(JSON.stringify(content));
}

function matchLine(match: Matches['matches'][number]): string {
  const place = match.path.length === 0 ? '' : ` in ${match.path.join(' > ')}`;
  return `${lineOf({ ...match, children: [] }, 0)}${place}`;
}

function changeLine(change: Change): string {
  if (change.kind === 'changed') return `~ ${lineOf({ ...change.node, children: [] }, 0)}${beforeText(change.node)}`;
  const place = change.node.parent === null ? '' : ` in ${change.node.parent}`;
  if (change.kind === 'removed') {
    const { role, name, ref } = change.node;
    return `- ${lineOf({ role, name, ref, value: null, states: [], children: [] }, 0)}${place}`;
  }
  const [first, ...below] = textOf(change.node).split('\n');
  return [`+ ${first}${place}`, ...below.map((line) => `+ ${line}`)].join('\n');
}

function beforeText({ before, name, value, states }: ChangedNode): string {
  const facts = [
    ...(before.name === name ? [] : [JSON.stringify(before.name)]),
    ...(before.value === value ? [] : [`value ${JSON.stringify(before.value)}`]),
    ...(before.states.join() === states.join() ? [] : [`[${before.states.join('] [')}]`]),
  ];
  return ` (was ${facts.join(' ')})`;
}

function nodesIn(change: Change): number {
  return change.kind === 'added' ? 1 + countBelow(change.node satisfies SnapshotNode) : 1;
}
