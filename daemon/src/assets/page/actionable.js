/** Decides whether an element can be clicked now, scrolls it into view, and answers the point to click. */
const boxkeep = globalThis.boxkeep;
const { dom, state } = boxkeep;

state.lateFrames ??= 0;

boxkeep.actionable = actionable;
boxkeep.hindranceOf = hindranceOf;
boxkeep.isVisible = isVisible;
boxkeep.nextFrame = nextFrame;

/** Where a scroll puts the element, in this order, because a sticky header covers some of these places. */
const alignments = ['center', 'end', 'start', 'nearest'];
/** Shares of a box at which the pointer tries to reach the element. The centre is first. */
const spots = [
  [0.5, 0.5],
  [0.25, 0.5],
  [0.75, 0.5],
  [0.5, 0.25],
  [0.5, 0.75],
  [0.1, 0.1],
  [0.9, 0.9],
];
const controls = 'button,input,select,textarea,option,optgroup';
/** A frame that is not drawn within this time is late, or the page draws none, for example behind another window. */
const frameMs = 250;
/** So many late frames one after another come from a page that draws none. */
const maxLateFrames = 8;

/**
 * The element may be a text. `position` counts from its left top corner, or from that of the view. `mustScroll` scrolls even when the element is in view,
 * for a frame that its parent does not show. `mustWatch` makes `boxkeep.landed` judge the next press of the pointer.
 * @param {Node} element
 * @param {{position?: {x: number, y: number, isOfView?: true}, mustScroll?: boolean, mustWatch?: boolean}} options
 */
async function actionable(element, options) {
  const outcome = await judge(element, options);
  return outcome.kind === 'waiting' ? { ...outcome, element: boxkeep.describe(element) } : outcome;
}

async function judge(element, { position, mustScroll = false, mustWatch = false }) {
  if (!dom.isConnected(element)) return { kind: 'detached' };
  const hindrance = hindranceOf(element);
  if (hindrance) return { kind: 'waiting', ...hindrance };
  // No pointer reaches an option while its list is closed.
  if (mustWatch && element instanceof HTMLOptionElement && !isVisible(element)) return boxkeep.choose(element);
  const targets = targetsOf(element);
  if (targets.length === 0) return { kind: 'waiting', reason: 'invisible' };
  const found = reach(targets, position, mustScroll);
  if (found.kind !== 'ready') return found;
  // The watch catches a press that misses an element which begins to move only now.
  if (mustWatch && boxkeep.isStill(found.target)) return ready(element, found, mustWatch);
  boxkeep.noteBox(found.target);
  if (!(await nextFrame())) {
    // The place at which a moving element is drawn next is not known yet.
    const mayMove = state.lateFrames < maxLateFrames && boxkeep.isCarried(found.target);
    return mayMove ? { kind: 'waiting', reason: 'moving' } : ready(element, found, mustWatch);
  }
  if (!boxkeep.noteBox(found.target) || boxkeep.isAboutToMove(found.target))
    return { kind: 'waiting', reason: 'moving' };
  if (!dom.isConnected(element)) return { kind: 'detached' };
  const covering = boxkeep.coveredAt(found.target, found.x, found.y);
  if (covering !== null) return { kind: 'waiting', reason: 'covered', by: boxkeep.describe(covering) };
  return ready(element, found, mustWatch);
}

function ready(element, { target, x, y }, mustWatch) {
  if (mustWatch) boxkeep.watchPress(element, target);
  return { kind: 'ready', x, y, ...(dom.isHidden() ? { isHidden: true } : {}) };
}

/** What keeps a user from using the element, apart from its place. @param {Node} node */
function hindranceOf(node) {
  const element = dom.elementOf(node);
  const subject = dom.closest(element, controls) ?? dom.closest(element, 'label')?.control ?? element;
  if (dom.matches(subject, ':disabled')) return { reason: 'disabled' };
  for (let at = element; at; at = boxkeep.parentOf(at)) {
    if (dom.attribute(at, 'aria-disabled') === 'true') return { reason: 'disabled' };
    if (dom.attribute(at, 'inert') !== null) return { reason: 'inert' };
  }
  return null;
}

/** The element, then its labels, which stand in for a control that a page has hidden behind its own drawing. */
function targetsOf(element) {
  const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
  const editor = !dom.isText(element) && boxkeep.isProxy(element) ? editorAround(element) : [];
  return [element, ...labels, ...editor].filter(isVisible);
}

/** The part of the page that a field without an area stands for. */
function editorAround(field) {
  for (let at = boxkeep.parentOf(field); at; at = boxkeep.parentOf(at)) {
    const { width, height } = at instanceof Element ? dom.boxOf(at) : { width: 0, height: 0 };
    if (Math.min(width, height) >= 10) return [at];
  }
  return [];
}

/** @param {Node} node */
function isVisible(node) {
  return visibleRects(node).length > 0 && getComputedStyle(dom.elementOf(node)).visibility === 'visible';
}

/** The boxes with an area. An element without one has those of its content, which may stand outside of it. */
function visibleRects(node) {
  const rects = [...dom.rectsOf(node)].filter(hasArea);
  if (rects.length > 0 || dom.isText(node)) return rects;
  return [...dom.contentRects(boxkeep.shadowRootOf(node) ?? node)].filter(hasArea);
}

function hasArea({ width, height }) {
  return width > 0 && height > 0;
}

/** Finds a point at which one of the targets takes the pointer, and scrolls only when there is none. */
function reach(targets, position, mustScroll) {
  let failure = null;
  const ways = position?.isOfView ? [null] : mustScroll ? alignments : [null, ...alignments];
  for (const block of ways) {
    for (const target of targets) {
      if (block !== null) scrollTo(target, block);
      const found = pointOn(target, position);
      if (found.kind === 'ready') return found;
      // The first cover after a scroll to the centre describes the page best.
      if (failure === null || failure.reason === 'outside') failure = found;
    }
  }
  return failure;
}

function scrollTo(target, block) {
  const box = target instanceof HTMLAreaElement ? boxkeep.imageOf(target) : dom.elementOf(target);
  dom.scrollIntoView(box, { block, inline: 'center', behavior: 'instant' });
  if (!dom.isText(target)) return;
  // The element around a text may be larger than the view.
  const { top, bottom } = dom.boxOf(target);
  if (bottom < 0 || top > innerHeight) scrollBy({ top: top - innerHeight / 2, behavior: 'instant' });
}

/** @param {Node} target @param {{x: number, y: number} | undefined} position */
function pointOn(target, position) {
  let covering = null;
  for (const { x, y } of position ? [placeOf(target, position)] : placesOn(target)) {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const cover = boxkeep.coveredAt(target, x, y);
    if (cover === null) return { kind: 'ready', target, x, y };
    covering ??= cover;
  }
  return covering === null
    ? { kind: 'waiting', reason: 'outside' }
    : { kind: 'waiting', reason: 'covered', by: boxkeep.describe(covering) };
}

function placeOf(target, position) {
  if (position.isOfView) return position;
  const box = dom.boxOf(target);
  return { x: box.left + position.x, y: box.top + position.y };
}

/** Places in the visible part of each box. A long line of text has several boxes, the first of which may be hidden. */
function placesOn(target) {
  const rects = visibleRects(target).slice(0, 8);
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const inView = rects.flatMap((rect) => spotsIn(common(rect, view)));
  // The middle of the view's part may be hidden where the parent shows less, or outside of a drawn shape.
  const clip = clipOf(target, view);
  return [...inView, ...rects.flatMap((rect) => spotsIn(common(rect, clip))), ...outline(target)];
}

function common(a, b) {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

function spotsIn({ left, top, right, bottom }) {
  if (right <= left || bottom <= top) return [];
  return spots.map(([across, down]) => ({ x: left + (right - left) * across, y: top + (bottom - top) * down }));
}

/** The part of the view that the parents show. */
function clipOf(target, view) {
  let clip = view;
  for (let at = boxkeep.parentOf(target); at; at = boxkeep.parentOf(at)) {
    if (at instanceof Element && getComputedStyle(at).overflow !== 'visible') clip = common(clip, dom.boxOf(at));
  }
  return clip;
}

/** Points on the line of a drawn shape, which may be open or hollow, and within the shape of an area. */
function outline(target) {
  if (target instanceof HTMLAreaElement) return boxkeep.placesInArea(target);
  if (!(target instanceof SVGGeometryElement)) return [];
  const matrix = target.getScreenCTM();
  const length = target.getTotalLength();
  if (matrix === null) return [];
  return [0.5, 0.25, 0.75, 0.1, 0.9].map((share) => target.getPointAtLength(length * share).matrixTransform(matrix));
}

/** Whether the next frame was drawn. A hidden document draws none. */
function nextFrame() {
  if (dom.isHidden()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      state.lateFrames++;
      resolve(false);
    }, frameMs);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      state.lateFrames = 0;
      resolve(true);
    });
  });
}
