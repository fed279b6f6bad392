/** Decides whether the pointer at a point reaches an element, and which element covers it otherwise. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.contains = contains;
boxkeep.coveredAt = coveredAt;
boxkeep.hits = hits;
boxkeep.rootsAbove = rootsAbove;

/**
 * The element that takes the pointer in place of the target, or null when the target takes the pointer.
 * @param {Node} target @param {number} x @param {number} y
 */
function coveredAt(target, x, y) {
  let hit = null;
  for (const root of rootsAbove(target)) {
    const found = dom.atPoint(root, x, y);
    // A shadow root answers null where only its host is hit.
    if (found === null) break;
    hit = found;
    if (isReached(target, hit)) return null;
  }
  return hit === null ? dom.documentElement() : deepest(hit, x, y);
}

/** The document, then each shadow root on the way down to the element. @param {Element} element */
function rootsAbove(element) {
  const roots = [];
  for (let node = element; node;) {
    const root = dom.rootOf(node);
    roots.unshift(root);
    node = root instanceof ShadowRoot ? root.host : null;
  }
  return roots;
}

/** Whether a click on the hit element is a click on the target. @param {Node} target @param {Element} hit */
function isReached(target, hit) {
  // A text takes no pointer, so a click on it is one on an element around it.
  if (dom.isText(target)) return contains(hit, target) && (!isRoot(hit) || hit === dom.elementOf(target));
  if (contains(target, hit)) return true;
  // A click on a label is a click on its control. A control may also cover the text of its label.
  if (dom.closest(hit, 'label')?.control === target || dom.closest(target, 'label')?.control === hit) return true;
  return contains(hit, target) && isTransparent(target, hit);
}

/** Containment in the rendered tree. @param {Element} ancestor @param {Element} element */
function contains(ancestor, element) {
  for (let at = element; at; at = boxkeep.parentOf(at)) if (at === ancestor) return true;
  return false;
}

/** Whether the target lets the pointer through to its ancestor on purpose, as the icon of a button does. */
function isTransparent(target, ancestor) {
  return !isRoot(ancestor) && getComputedStyle(target).pointerEvents === 'none';
}

function isRoot(element) {
  return element === dom.documentElement() || element === dom.body();
}

/** Looks into the shadow trees below the hit element, so that the covering element itself is named. */
function deepest(hit, x, y) {
  for (let at = hit; ;) {
    const root = boxkeep.shadowRootOf(at);
    const inner = root && dom.atPoint(root, x, y);
    if (!inner || inner === at || dom.rootOf(inner) !== root) return at;
    at = inner;
  }
}

/**
 * Converts a point of a child frame to this frame, and checks that the frame element takes the pointer there.
 * @param {Element} owner @param {{x: number, y: number}} point
 */
function hits(owner, { x, y }) {
  const box = dom.boxOf(owner);
  const style = getComputedStyle(owner);
  // The rectangle includes transforms; the widths of border and padding do not.
  const scaleX = owner.offsetWidth > 0 ? box.width / owner.offsetWidth : 1;
  const scaleY = owner.offsetHeight > 0 ? box.height / owner.offsetHeight : 1;
  const at = {
    x: box.left + scaleX * (owner.clientLeft + parseFloat(style.paddingLeft) + x),
    y: box.top + scaleY * (owner.clientTop + parseFloat(style.paddingTop) + y),
  };
  if (at.x < 0 || at.y < 0 || at.x >= innerWidth || at.y >= innerHeight) return { kind: 'waiting', reason: 'outside' };
  const covering = coveredAt(owner, at.x, at.y);
  return covering === null
    ? { kind: 'ready', ...at }
    : { kind: 'waiting', reason: 'covered', by: boxkeep.describe(covering) };
}
