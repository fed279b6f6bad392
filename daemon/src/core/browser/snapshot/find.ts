/** Finds the nodes of a tree that have a role, a name or a text. */
import { shortened } from '../url.ts';
import type { SnapshotNode } from './tree.ts';

/** Every given part has to match. Names and texts match anywhere, upper and lower case alike. */
export interface Query {
  readonly role: string | null;
  readonly name: string | null;
  readonly text: string | null;
}

export interface Match extends Omit<SnapshotNode, 'children' | 'omitted' | 'textRef'> {
  /** The nodes above that have a name, such as `form "Login"`, from the outermost on. */
  readonly path: readonly string[];
}

export interface Matches {
  readonly matches: readonly Match[];
  /** All nodes that match, listed or not. */
  readonly total: number;
}

const maxMatches = 200;

export function findAll(root: SnapshotNode, query: Query): Matches {
  const wanted = { role: query.role, name: folded(query.name), text: folded(query.text) };
  const matches: Match[] = [];
  let total = 0;
  const search = (node: SnapshotNode, path: readonly string[], nearestRef: string | null) => {
    const ref = node.ref ?? nearestRef;
    if (isMatch(node, wanted)) {
      total += 1;
      if (matches.length < maxMatches) matches.push(matchOf(node, ref, path));
    }
    for (const child of node.children) search(child, pathBelow(node, path), ref);
  };
  search(root, [], null);
  return { matches, total };
}

/** A query of an action, which needs exactly one node. */
export interface Locator extends Query {
  /** A part of the name of a field. */
  readonly label: string | null;
}

const fieldRoles: ReadonlySet<string> = new Set([
  ...['textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'slider', 'checkbox', 'radio', 'switch'],
]);

/**
 * The visible matches that contain no other match. Where names or texts match as a whole, those that match in part do
 * not count, so that "Save" is not "Save as".
 */
export function locate(root: SnapshotNode, locator: Locator): readonly Match[] {
  const wanted = {
    role: locator.role,
    names: [locator.name, locator.label].map(folded).filter((name) => name !== null),
    text: folded(locator.text),
    isField: locator.label !== null,
  };
  const found: { readonly match: Match; readonly isWhole: boolean }[] = [];
  const search = (node: SnapshotNode, path: readonly string[], nearestRef: string | null) => {
    const ref = node.ref ?? nearestRef;
    const before = found.length;
    for (const child of node.children) search(child, pathBelow(node, path), ref);
    if (found.length > before || ref === null || node.states.includes('hidden')) return;
    const name = folded(node.name) ?? '';
    const value = folded(node.value) ?? '';
    const { role, names, text, isField } = wanted;
    const isMatch =
      (role === null || node.role === role) &&
      (!isField || fieldRoles.has(node.role)) &&
      names.every((part) => name.includes(part)) &&
      (text === null || name.includes(text) || value.includes(text));
    if (!isMatch) return;
    const isWhole = names.every((part) => name === part) && (text === null || name === text || value === text);
    found.push({ match: matchOf(node, ref, path), isWhole });
  };
  search(root, [], null);
  const whole = found.filter(({ isWhole }) => isWhole);
  return (whole.length > 0 ? whole : found).map(({ match }) => match);
}

/** A query for an error message, such as `role button, name "Save"`. */
export function describeQuery({ role, name, text, label = null }: Query & Partial<Locator>): string {
  const parts = [
    ...(role === null ? [] : [`role ${shortened(role)}`]),
    ...(name === null ? [] : [`name ${JSON.stringify(shortened(name))}`]),
    ...(label === null ? [] : [`label ${JSON.stringify(shortened(label))}`]),
    ...(text === null ? [] : [`text ${JSON.stringify(shortened(text))}`]),
  ];
  return parts.join(', ');
}

/** An option of a closed menu is reached through the menu. */
function matchOf({ role, name, value, states, textRef }: SnapshotNode, ref: string | null, path: readonly string[]) {
  return { role, name, ref: textRef ?? ref, value, states, path };
}

function pathBelow(node: SnapshotNode, path: readonly string[]): readonly string[] {
  return node.name !== '' && node.children.length > 0 ? [...path, `${node.role} ${JSON.stringify(node.name)}`] : path;
}

/** True when a node of the tree matches. */
export function hasMatch(root: SnapshotNode, query: Query): boolean {
  const wanted = { role: query.role, name: folded(query.name), text: folded(query.text) };
  const isIn = (node: SnapshotNode): boolean => isMatch(node, wanted) || node.children.some(isIn);
  return isIn(root);
}

function isMatch(node: SnapshotNode, { role, name, text }: Query): boolean {
  if (role !== null && node.role !== role) return false;
  if (name !== null && !node.name.toLowerCase().includes(name)) return false;
  if (text === null) return true;
  return node.name.toLowerCase().includes(text) || (node.value ?? '').toLowerCase().includes(text);
}

function folded(text: string | null): string | null {
  return text === null ? null : text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
