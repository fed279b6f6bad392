/** Writes what a page shows for a model: one line for each node, with a number where something can be acted on. */
import { fit } from '../../../core/browser/snapshot/budget.ts';
import { diffOf } from '../../../core/browser/snapshot/diff.ts';
import { findAll, type Query } from '../../../core/browser/snapshot/find.ts';
import type { Look } from '../../../core/browser/snapshot/snapshot.ts';
import { lineOf } from '../../../core/browser/snapshot/text.ts';
import { interactiveTree, type SnapshotNode } from '../../../core/browser/snapshot/tree.ts';
import { CoreError } from '../../../kit/errors.ts';
import { footer } from '../text.ts';

export interface TextOptions {
  readonly numberOf: (ref: string) => number;
  readonly maxBytes: number;
}

/** A page can give its URL millions of characters. */
const maxUrlCharacters = 1000;

export function shownUrl(url: string): string {
  return url.length > maxUrlCharacters ? `${url.slice(0, maxUrlCharacters)}…` : url;
}

/** The whole page, or all that can be acted on where the whole page does not fit. */
export function pageText(look: Look, options: TextOptions, interactiveOnly: boolean): string {
  const { root, omitted } = fitted(look.root, options, interactiveOnly);
  if (omitted > 0 && !interactiveOnly) {
    const short = fitted(look.root, options, true);
    const note =
      'too long: this is what can be acted on; browser_get_text reads all, and browser_snapshot takes find, role or max_bytes';
    return [...linesOf(short.root, options), footer(note, leftOut(short.omitted))].join('\n');
  }
  return [...linesOf(root, options), ...(omitted > 0 ? [footer(leftOut(omitted))] : [])].join('\n');
}

function fitted(whole: Look['root'], { maxBytes }: TextOptions, interactiveOnly: boolean) {
  const selected = interactiveOnly ? interactiveTree(whole) : whole;
  try {
    const { root, truncated } = fit(selected, 'text', maxBytes);
    return { root, omitted: truncated?.nodes ?? 0 };
  } catch (error) {
    // Not even the title fits.
    if (!(error instanceof CoreError)) throw error;
    return { root: { ...selected, name: '', children: [] }, omitted: 1 };
  }
}

/** What has changed since `base`; null for nothing. */
export function changesText({ root }: Pick<Look, 'root'>, base: Look['root'], options: TextOptions): string | null {
  const { added, removed, changed } = diffOf(base, root);
  const lines = [
    ...changed.filter(hasNews).map((node) => `~ ${line(node, 0, options)}`),
    ...added.flatMap((node) => linesOf(node, options).map((text) => `+ ${text}`)),
    ...removed.map(({ role, name }) => `- ${line({ role, name, ref: null, value: null, states: [] }, 0, options)}`),
  ];
  return lines.length === 0 ? null : cut(lines, options.maxBytes);
}

export function matchesText({ root }: Pick<Look, 'root'>, query: Query, options: TextOptions): string {
  const { matches, total } = findAll(root, query);
  const lines = matches.map((match) => {
    const place = match.path.length < 2 ? '' : ` in ${match.path.at(-1)}`;
    return `${line(match, 0, { ...options, isTarget: true })}${place}`;
  });
  return total === 0 ? 'no match' : cut(lines, options.maxBytes, total - matches.length);
}

/** The focus moves with each action, which the model knows. */
function hasNews({ before, role, name, value, states }: ReturnType<typeof diffOf>['changed'][number]): boolean {
  const rest = (all: readonly string[]) => all.filter((state) => state !== 'focused').join();
  return before.role !== role || before.name !== name || before.value !== value || rest(before.states) !== rest(states);
}

/** The beginning of the lines that fits. */
function cut(lines: readonly string[], maxBytes: number, more = 0): string {
  let bytes = 0;
  const kept = lines.findIndex((text) => (bytes += Buffer.byteLength(text) + 1) > maxBytes);
  if (kept === 0)
    return `${(lines[0] ?? '').slice(0, maxBytes / 4).toWellFormed()}…\n${footer('the line is too long', leftOut(lines.length - 1 + more))}`;
  if (kept === -1) return [...lines, ...(more > 0 ? [footer(leftOut(more))] : [])].join('\n');
  return [...lines.slice(0, kept), footer(leftOut(lines.length - kept + more))].join('\n');
}

function leftOut(count: number): string | null {
  return count === 0 ? null : `${count} more lines`;
}

function linesOf(node: SnapshotNode, options: TextOptions, depth = 0): string[] {
  return [line(node, depth, options), ...node.children.flatMap((child) => linesOf(child, options, depth + 1))];
}

interface LineOptions extends TextOptions {
  /** True for a node that the model has asked for, whatever it is. */
  readonly isTarget?: boolean;
}

/** Without the bullet, which says nothing. The number stands where a state does: no text of a page can imitate that. */
function line(
  node: Omit<SnapshotNode, 'children'>,
  depth: number,
  { numberOf, isTarget = false }: LineOptions,
): string {
  const { ref } = node;
  const isActive = isTarget || ('isInteractive' in node && node.isInteractive === true);
  const states = node.states.filter((state) => state !== 'clickable' && state !== 'focused');
  const shown = ref !== null && isActive ? [String(numberOf(ref)), ...states] : states;
  return lineOf({ ...node, ref: null, states: shown, children: [] }, depth).replace('- ', '');
}
