/** Waits until a page shows a text, an element or a node of a role and name, or no longer does. */
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import { DocumentGone } from '../failures.ts';
import type { Page } from '../page.ts';
import { describeQuery, hasMatch, type Query } from './find.ts';
import { nodesOf, type SnapshotNode } from './tree.ts';

export interface Condition extends Query {
  readonly ref: string | null;
  /** True to wait until nothing matches any more. */
  readonly isGone: boolean;
  readonly timeoutMs: number;
}

/** Changes in frames and shadow roots do not wake the wait, so the page is looked at this often as well. */
const maxPauseMs = 250;

/** Looks at the page after each change of its document. Throws `page_timeout` when the condition does not become true. */
export async function waitFor<T extends { readonly root: SnapshotNode }>(
  page: Page,
  condition: Condition,
  look: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + condition.timeoutMs;
  for (;;) {
    const seen = await look();
    if (isMet(seen.root, condition)) return seen;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) throw notMet(condition);
    await changed(page, Math.min(leftMs, maxPauseMs), signal);
  }
}

function isMet(root: SnapshotNode, condition: Condition): boolean {
  const isShown = condition.ref === null ? hasMatch(root, condition) : hasRef(root, condition.ref);
  return isShown !== condition.isGone;
}

function hasRef(root: SnapshotNode, ref: string): boolean {
  for (const node of nodesOf(root)) if (node.ref === ref) return true;
  return false;
}

/** Resolves after the next change of the document, or after this time. */
export async function changed(page: Page, maxMs: number, signal: AbortSignal): Promise<void> {
  const [main] = await page.frames(signal);
  // Another document is a change.
  if (main) await nullOn(DocumentGone, page.call(main, 'changed', { maxMs }, signal));
}

function notMet(condition: Condition): CoreError {
  const { ref, isGone, timeoutMs } = condition;
  const parts = [...(ref === null ? [] : [`ref ${ref}`]), describeQuery(condition)].filter((part) => part !== '');
  const what = isGone ? 'was still on the page' : 'did not appear on the page';
  return new CoreError('page_timeout', `${parts.join(', ')} ${what} after ${timeoutMs / 1000} s`, {
    hint: 'Look at what the page shows.',
    next: { operation: 'browser.snapshot' },
  });
}
