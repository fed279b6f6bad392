/** Waits until the pointer can reach an element, and returns the point in the main frame of the page. */
import type { Point } from '../../../kit/types/geometry.ts';
import { staleRef } from '../failures.ts';
import type { PageCall } from '../browser.ts';
import { refOf, type Frame } from '../frames.ts';
import type { RefTarget } from '../page.ts';
import { untilReady, type Waiting } from './waiting.ts';

/** In CSS pixels. */
export type Position = Point & { readonly isOfView?: true };

export interface PointOptions {
  /** Counts from the left top corner of the element, or of the view; null for a point that the pointer can reach. */
  readonly position: Position | null;
  /** The page script then checks the next press of the pointer. */
  readonly mustWatch: boolean;
}

type Ready = Point & { readonly kind: 'ready'; readonly isHidden?: true };
/** An option of a closed list, which the page script has chosen because no pointer reaches it. */
interface Chosen {
  readonly kind: 'chosen';
}
type Outcome = Ready | Chosen | Waiting | { readonly kind: 'detached' };

/** Null for an option that is chosen already. Throws `ref_stale`, and `page_timeout` with the reason. */
export async function pointOf(
  call: PageCall,
  target: RefTarget,
  subject: string,
  options: PointOptions,
): Promise<Point | null> {
  const found = await untilReady<Ready | Chosen>(call, subject, (last) => pointNow(call, target, options, last));
  return found.kind === 'ready' ? { x: found.x, y: found.y } : null;
}

/** One attempt; `last` is the outcome of the attempt before. */
export async function pointNow(
  call: PageCall,
  target: RefTarget,
  options: PointOptions,
  last: Waiting | null,
): Promise<Ready | Chosen | Waiting> {
  // The frame may be outside the view of its parent, which the frame itself cannot see.
  const mustScroll = last !== null && target.frame.parentId !== null;
  const inner = await pointInFrame(call, target, { ...options, mustScroll });
  if (inner.kind !== 'ready') return inner;
  if (!inner.isHidden) return await pointInPage(call, target.frame, inner);
  // A tab in the background draws no frames, so nothing of the answer is certain.
  await call.browser.activate(call.page.targetId, call.signal);
  return { kind: 'waiting', reason: 'invisible' };
}

async function pointInFrame(
  { page, signal }: PageCall,
  target: RefTarget,
  { position, mustWatch, mustScroll }: PointOptions & { readonly mustScroll: boolean },
): Promise<Ready | Chosen | Waiting> {
  const argument = { mustScroll, mustWatch, ...(position && { position }) };
  const outcome = await page.callOn<Outcome>(target, 'actionable', argument, signal);
  if (outcome.kind === 'detached') throw staleRef(refOf(target.number, target.frame));
  return outcome;
}

/** Converts the point from frame to frame, up to the main frame. Each frame element must receive the pointer. */
async function pointInPage({ page, signal }: PageCall, from: Frame, inner: Ready): Promise<Ready | Waiting> {
  let at: Ready = inner;
  let frame = from;
  while (frame.parentId !== null) {
    const owner = await page.ownerOf(frame, signal);
    if (owner === null) return { kind: 'waiting', reason: 'detached' };
    const { x, y } = at;
    const { session } = owner.parent;
    const hits = 'function (point) { return globalThis.boxkeep.hits(this, point); }';
    const outcome = await session.valueOn<Ready | Waiting>(owner.objectId, hits, [{ x, y }], signal);
    if (outcome.kind === 'waiting') return outcome;
    at = outcome;
    frame = owner.parent;
  }
  return at;
}
