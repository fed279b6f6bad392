/** Shows a snapshot of a page as nested lists, in which a ref is a button. */
import type { SnapshotNode } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';

/** Acts on a node. The ref of what nothing can act on, such as a text, is null. */
export type Act = (node: SnapshotNode & { readonly ref: string }) => void;

/** What is below a node, in the order of the page. */
export function elementRows({ name, children, omitted = 0 }: SnapshotNode, act: Act): HTMLElement[] {
  // The text of a button is its name already.
  const shown = children.filter((child) => child.ref !== null || child.name !== name);
  const more = omitted === 0 ? [] : [element('li', { class: 'note' }, `${omitted} more are left out`)];
  return [...shown.map((child) => elementRow(child, act)), ...more];
}

function elementRow(node: SnapshotNode, act: Act): HTMLElement {
  const { role, name, ref, value, states } = node;
  const facts = [role, ...(value ? [value] : []), ...states].join(', ');
  const label =
    ref === null
      ? element('span', {}, name)
      : element('button', { type: 'button', key: ref, onClick: () => act({ ...node, ref }) }, name || '(no name)');
  const below = elementRows(node, act);
  const row = element('li', {}, label, element('span', { class: 'note' }, facts));
  if (below.length > 0) row.append(element('ul', {}, ...below));
  return row;
}
