/** Answers what a page shows: as a tree or text, as matches of a query, or as changes since an earlier snapshot. */
import type { Browser, PageCallOptions, PageResult } from '../browser.ts';
import { assertRef, DocumentGone } from '../failures.ts';
import type { Page } from '../page.ts';
import { fit, type SnapshotFormat, type Truncation } from './budget.ts';
import { collect, type Collected, type PageCut } from './collect.ts';
import { diffOf, type SnapshotDiff } from './diff.ts';
import { findAll, locate, type Locator, type Match, type Matches, type Query } from './find.ts';
import { fitDiff, fitMatches } from './lists.ts';
import { textOf } from './text.ts';
import type { KeptSnapshot } from './kept.ts';
import { interactiveRefs, select, type Selection, type SnapshotNode } from './tree.ts';
import { waitFor, type Condition } from './wait.ts';

export interface SnapshotSpec extends PageCallOptions, Selection {
  /** Null for the whole page. */
  readonly rootRef: string | null;
  readonly format: SnapshotFormat;
  /** Null for the default. */
  readonly maxBytes: number | null;
  /** The snapshot to compare with. */
  readonly diffFrom: string | null;
  readonly find: Query | null;
  readonly waitFor: Condition | null;
}

export interface SnapshotAnswer {
  readonly content: SnapshotNode | SnapshotDiff | Matches | string;
  /** Names this snapshot in a later comparison; null from a backend that compares no snapshots. */
  readonly id: string | null;
  /** The snapshot that the content was compared with; null for a content that is whole. */
  readonly diffFrom: string | null;
  readonly truncated: Truncation | null;
  /** What was left out of very large documents. */
  readonly cuts: readonly PageCut[];
}

/** More than a model can read. A page of 50 000 nodes takes several MB. */
export const defaultMaxBytes = 256 * 1024;

/** A page that loads one document after the other is not followed for ever. */
const maxAttempts = 5;

/** Throws `ref_stale` for a root that has gone, and `page_timeout` for a condition that does not become true. */
export async function takeSnapshot(browser: Browser, spec: SnapshotSpec): Promise<PageResult<SnapshotAnswer>> {
  const { value, effects } = await lookAt(browser, spec);
  const { id, root, base, cuts } = value;
  const answer = { id, diffFrom: base?.id ?? null, cuts, ...contentOf(root, base?.root ?? null, spec) };
  return { value: answer, effects };
}

/** The whole tree of a page. */
export interface Look extends Omit<Collected, 'nodes'> {
  readonly tabId: string;
  readonly id: string;
  /** The snapshot to compare with, while it is kept. */
  readonly base: KeptSnapshot | null;
}

/** Throws as `takeSnapshot`. */
export async function lookAt(
  browser: Browser,
  spec: PageCallOptions & Pick<SnapshotSpec, 'rootRef' | 'diffFrom' | 'find' | 'waitFor'>,
): Promise<PageResult<Look>> {
  return await browser.onPage(spec, async ({ page, signal }) => {
    if (typeof spec.waitFor?.ref === 'string') assertRef(spec.waitFor.ref);
    const look = () => collectWithRetry(page, spec, signal);
    const { document, url, root, nodes, cuts } =
      spec.waitFor === null ? await look() : await waitFor(page, spec.waitFor, look, signal);
    const { id } = page.snapshots.keep(root, nodes);
    const base = spec.diffFrom === null ? null : page.snapshots.find(spec.diffFrom);
    return { tabId: page.targetId, document, url, id, root, base, cuts };
  });
}

/** The refs of everything that can be acted on. */
export async function interactiveRefsOf(page: Page, signal: AbortSignal): Promise<readonly string[]> {
  const { root } = await collectWithRetry(page, { rootRef: null, find: null }, signal);
  return interactiveRefs(root);
}

/** The nodes that an action may mean. */
export async function locateOn(page: Page, locator: Locator, signal: AbortSignal): Promise<readonly Match[]> {
  const { root } = await collectWithRetry(page, { rootRef: null, find: locator }, signal);
  return locate(select(root, { interactiveOnly: false, depth: null }), locator);
}

/** Collects again when the document is replaced meanwhile. */
async function collectWithRetry(
  page: Page,
  { rootRef, find }: Pick<SnapshotSpec, 'rootRef' | 'find'>,
  signal: AbortSignal,
): Promise<Collected> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const root = rootRef === null ? null : await page.frameOf(rootRef, signal);
      return await collect(page, { root, hasTextRefs: find !== null }, signal);
    } catch (error) {
      if (!(error instanceof DocumentGone) || attempt === maxAttempts) throw error;
    }
  }
}

type Content = Pick<SnapshotAnswer, 'content' | 'truncated'>;

function contentOf(root: Collected['root'], base: Collected['root'] | null, spec: SnapshotSpec): Content {
  const { format, find } = spec;
  const maxBytes = spec.maxBytes ?? defaultMaxBytes;
  const selected = select(root, spec);
  if (find !== null) return fitMatches(findAll(selected, find), format, maxBytes);
  if (base !== null) return fitDiff(diffOf(select(base, spec), selected), format, maxBytes);
  const { root: fitted, truncated } = fit(selected, format, maxBytes);
  return { content: format === 'text' ? textOf(fitted) : fitted, truncated };
}
