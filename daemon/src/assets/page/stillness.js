/** Remembers where elements are, so that a click on an element that has not moved waits for no frame. */
const boxkeep = globalThis.boxkeep;
const { dom, state } = boxkeep;

boxkeep.noteBox = noteBox;
boxkeep.isStill = isStill;
boxkeep.isAboutToMove = isAboutToMove;
boxkeep.isCarried = isCarried;

// A later daemon continues to count in the same world.
/** @type {WeakMap<Element, {box: DOMRect, frames: number}>} Where an element was when so many frames had been seen. */
state.boxes ??= new WeakMap();
/** Counts the first frame after each new box only, because a page that is watched in every frame is never idle. */
state.frames ??= 0;
state.isCounting ??= false;

/** Notes where an element is. Returns false when that is a new place. @param {Element} element */
function noteBox(element) {
  const box = dom.boxOf(element);
  const known = state.boxes.get(element);
  if (known && isSame(known.box, box)) return true;
  state.boxes.set(element, { box, frames: state.frames });
  countFrame();
  return false;
}

/**
 * Whether the element is where it was before the last frame, and no animation runs that could move it. An element that
 * a script moves in each frame is not. @param {Element} element
 */
function isStill(element) {
  // The document above moves a frame without a trace in the frame.
  if (window !== top || dom.isHidden() || !noteBox(element)) return false;
  return state.boxes.get(element).frames < state.frames && !isAnimated(element);
}

/**
 * Whether an animation of the element, or of one around it, has not drawn its first frame: two frames show the same
 * place until then. An animation that follows an inactive timeline never draws one. @param {Element} element
 */
function isAboutToMove(element) {
  return carrying(element).some(
    ({ pending, playState, currentTime, timeline }) =>
      (pending || (playState === 'running' && currentTime === 0)) && timeline?.currentTime !== null,
  );
}

/** Whether an animation of the element, or of one around it, runs. @param {Element} element */
function isCarried(element) {
  return carrying(element).some(({ playState }) => playState === 'running');
}

/** The animations of the element and of those around it. */
function carrying(element) {
  return animationsAbove(element).filter(({ effect }) => boxkeep.contains(effect?.target, element));
}

function isAnimated(element) {
  return animationsAbove(element).some(({ playState }) => playState === 'running');
}

function animationsAbove(element) {
  return boxkeep.rootsAbove(element).flatMap((root) => dom.animationsOf(root));
}

function isSame(a, b) {
  return a.left === b.left && a.top === b.top && a.width === b.width && a.height === b.height;
}

function countFrame() {
  if (state.isCounting) return;
  state.isCounting = true;
  requestAnimationFrame(() => {
    state.isCounting = false;
    state.frames++;
  });
}
