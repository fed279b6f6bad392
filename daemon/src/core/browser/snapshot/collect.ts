/** Collects the tree of a page from its documents: each frame's content below the element that shows the frame. */
import { CdpClosed, CdpRefusal } from '../../../protocols/cdp-errors.ts';
import { DocumentGone, staleRef } from '../failures.ts';
import { refOf, type Frame } from '../frames.ts';
import type { Page, RefTarget } from '../page.ts';
import { revealRoots } from './closed-roots.ts';
import type { TreeNode } from './tree.ts';

/** Depth, role, name, number or 0, value, states, kind. */
type Row = readonly [number, string, string, number, string | null, readonly string[], number];

interface DocumentAnswer {
  /** Null when the root element has gone. */
  readonly rows: readonly Row[] | null;
  /** Elements that may have closed shadow roots. */
  readonly candidates: number;
  /** True when more elements may have closed shadow roots than the page script has noted. */
  readonly hasMore: boolean;
  readonly cut: PageCut | null;
}

/** What the page script left out of a very large document. */
export interface PageCut {
  /**
   * The bound that was reached: `nodes`, `characters`, `time`, `depth`, or `length` for long texts alone;
   * `closed_roots` and `listeners` for what the daemon has to ask the browser for.
   */
  readonly reason: string;
  /** Elements that were not looked at, at least. */
  readonly elements: number;
  /** Characters of long texts. */
  readonly characters: number;
}

export interface Collected {
  /** Names the document among all documents of all tabs. */
  readonly document: string;
  /** Of the main document. */
  readonly url: string;
  readonly root: TreeNode;
  readonly nodes: number;
  readonly cuts: readonly PageCut[];
}

interface Collection {
  readonly hasTextRefs: boolean;
  readonly page: Page;
  readonly frames: readonly Frame[];
  readonly cuts: PageCut[];
  nodes: number;
  readonly signal: AbortSignal;
}

const frameKind = 2;
const interactiveKind = 1;
const limits = { maxNodes: 50_000, maxCharacters: 4_000_000, maxMs: 4000 };
/** Time for the closed roots of a document. They are asked for once, so a later snapshot has the rest. */
const maxRevealMs = 3000;
/** Time for the document of a frame; a frame that does not answer is reported and delays the others no longer. */
const maxFrameMs = 3000;

/** `hasTextRefs` gives each text a ref of its own. Throws `ref_stale` when the root has gone. */
export async function collect(
  page: Page,
  { root, hasTextRefs }: { readonly root: RefTarget | null; readonly hasTextRefs: boolean },
  signal: AbortSignal,
): Promise<Collected> {
  const frames = await page.frames(signal);
  const start = root?.frame ?? frames[0];
  if (!start) throw new DocumentGone('the page has no document');
  const collection: Collection = { hasTextRefs, page, frames, cuts: [], nodes: 0, signal };
  const tree = await documentTree(collection, start, root?.number ?? null, signal);
  if (tree === null) throw staleRef(refOf(root?.number ?? 0, start));
  return { document: start.tag, url: frames[0]?.url ?? '', root: tree, nodes: collection.nodes, cuts: collection.cuts };
}

async function documentTree(
  collection: Collection,
  frame: Frame,
  root: number | null,
  signal: AbortSignal,
): Promise<TreeNode | null> {
  const { rows, cut } = await documentRows(collection, frame, root, signal);
  if (rows === null) return null;
  if (cut !== null) collection.cuts.push(cut);
  collection.nodes += rows.length;
  const shown = rows.filter((row) => row[6] === frameKind).map((row) => row[3]);
  const contents = shown.length === 0 ? new Map<number, TreeNode | null>() : await frameTrees(collection, frame, shown);
  return assemble(rows, frame, contents);
}

async function documentRows(
  { page, cuts, hasTextRefs }: Collection,
  frame: Frame,
  root: number | null,
  signal: AbortSignal,
): Promise<DocumentAnswer> {
  const unmarked = await page.clickables.mark(frame, signal);
  if (unmarked > 0) cuts.push({ reason: 'listeners', elements: unmarked, characters: 0 });
  const look = () => page.call<DocumentAnswer>(frame, 'snapshot', { root, hasTextRefs, ...limits }, signal);
  const endMs = performance.now() + maxRevealMs;
  let answer = await look();
  while (answer.candidates > 0 && performance.now() < endMs) {
    const hasFound = await revealRoots(page.worlds, frame, endMs, signal);
    if (!hasFound && !answer.hasMore) return answer;
    answer = await look();
  }
  if (answer.candidates > 0) cuts.push({ reason: 'closed_roots', elements: answer.candidates, characters: 0 });
  return answer;
}

/** The trees of the frames that the given elements show, by the number of the element. */
async function frameTrees(collection: Collection, parent: Frame, shown: readonly number[]) {
  const children = collection.frames.filter(({ parentId }) => parentId === parent.id);
  const trees = children.map(async (child): Promise<[number, TreeNode | null] | null> => {
    const number = await ownerNumber(collection, parent, child);
    if (number === null || !shown.includes(number)) return null;
    return [number, await frameTree(collection, child)];
  });
  return new Map((await Promise.all(trees)).filter((entry) => entry !== null));
}

/** Null when the document of the frame does not answer, or is being replaced. */
async function frameTree(collection: Collection, frame: Frame): Promise<TreeNode | null> {
  const limit = AbortSignal.timeout(maxFrameMs);
  try {
    return await documentTree(collection, frame, null, AbortSignal.any([collection.signal, limit]));
  } catch (error) {
    if (!limit.aborted && !isGone(error)) throw error;
    collection.signal.throwIfAborted();
    return null;
  }
}

async function ownerNumber({ page, signal }: Collection, parent: Frame, frame: Frame): Promise<number | null> {
  const { session } = parent;
  try {
    const { backendNodeId } = await session.send('DOM.getFrameOwner', { frameId: frame.id }, signal);
    const objectId = await page.worlds.resolve(parent, backendNodeId, signal);
    if (objectId === null) return null;
    const number = await session.valueOn(objectId, 'function(){return boxkeep.numberOf(this)}', [], signal);
    session.tell('Runtime.releaseObject', { objectId });
    return Number(number);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof DocumentGone || error instanceof CdpRefusal || error instanceof CdpClosed;
}

/** Makes a tree of rows; a frame without a tree is marked as `unreadable`. */
function assemble(rows: readonly Row[], frame: Frame, contents: ReadonlyMap<number, TreeNode | null>): TreeNode | null {
  const path: TreeNode[] = [];
  for (const [depth, role, name, number, value, states, kind] of rows) {
    const content = kind === frameKind ? contents.get(number) : undefined;
    const ref = number === 0 ? null : refOf(number, frame);
    const isText = role === 'text';
    const node: TreeNode = {
      // A frame without a title has that of its document.
      ...{ role, name: name || (content?.name ?? ''), ref: isText ? null : ref, value },
      ...(isText && ref !== null && { textRef: ref }),
      states: kind === frameKind && !content ? [...states, 'unreadable'] : states,
      children: content ? [...content.children] : [],
      isInteractive: kind === interactiveKind,
    };
    path.length = depth;
    path[depth - 1]?.children.push(node);
    path.push(node);
  }
  return path[0] ?? null;
}
