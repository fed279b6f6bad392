/** Checks at the press of the pointer that the press reaches its element, and keeps it from the page otherwise. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.watchPress = watchPress;
boxkeep.landed = landed;

const types = [
  'pointermove',
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'dblclick',
  'auxclick',
  'contextmenu',
];
/** The watch ends by itself after this time, so that a lost call cannot block the clicks of a user. */
const watchMs = 2000;
/** The watch of the press that is under way. It is in the world's state, so that a later daemon finds the listeners. */
const state = boxkeep.state;

/** The element may move or be covered between the check and the press. @param {Element} element @param {Element} target */
function watchPress(element, target) {
  state.press?.end();
  const press = { verdict: 'unseen', by: null, drag: null, link: null, hasMoved: false, end };
  const onEvent = (event) => {
    if (!event.isTrusted) return;
    if (event.type === 'pointermove') press.hasMoved = true;
    if (event.type === 'pointerdown' && press.verdict === 'unseen') judge(press, target, event);
    if (event.type === 'click') press.link = linkOf(event);
    if (press.verdict !== 'missed') return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const onDrag = (event) => (press.drag = event);
  for (const type of types) addEventListener(type, onEvent, { capture: true, passive: false });
  addEventListener('dragstart', onDrag, { capture: true });
  const timer = setTimeout(end, watchMs);
  state.press = press;

  function end() {
    clearTimeout(timer);
    for (const type of types) removeEventListener(type, onEvent, { capture: true });
    removeEventListener('dragstart', onDrag, { capture: true });
  }
}

function judge(press, target, { clientX, clientY }) {
  const covering = boxkeep.coveredAt(target, clientX, clientY);
  press.verdict = covering === null ? 'hit' : 'missed';
  press.by = covering && boxkeep.describe(covering);
}

/** The link that a click is on, when it does not lead to another page. */
function linkOf(event) {
  const [target] = event.composedPath();
  const link = target instanceof Element ? dom.closest(target, 'a[href],area[href]') : null;
  if (link === null) return null;
  if (/^\s*javascript:/i.test(dom.attribute(link, 'href'))) return { event, kind: 'script' };
  return dom.attribute(link, 'download') === null ? null : { event, kind: 'download' };
}

/**
 * What the press has met, and whether it began a drag or a download. `isOver` ends the watch.
 * @param {{isOver: boolean}} options
 */
async function landed({ isOver }) {
  if (isOver) await consequences(state.press);
  const press = state.press;
  if (!press) return { verdict: 'unseen', by: null, dragged: 'no', isDownload: false, hasMoved: false };
  if (isOver) {
    press.end();
    state.press = null;
  }
  // Listeners of the page that run later than ours may have cancelled the drag.
  const dragged = press.drag === null ? 'no' : press.drag.defaultPrevented ? 'prevented' : 'started';
  const isDownload = isFollowed(press, 'download');
  return { verdict: press.verdict, by: press.by, dragged, isDownload, hasMoved: press.hasMoved };
}

/** Waits for what the click begins in a task of its own, and the browser does not report before this answer. */
async function consequences(press) {
  // The browser runs the script of a link after the next frame.
  if (isFollowed(press, 'script')) await boxkeep.nextFrame();
  else if (window === top) return;
  // The document of a frame may have its navigations reported elsewhere.
  await nextTask();
}

/** Whether the click was on a link of this kind, and the page has let it pass. */
function isFollowed(press, kind) {
  const link = press?.link;
  return link?.kind === kind && !link.event.defaultPrevented;
}

/** A message comes before the next frame, which a timer would wait for. */
function nextTask() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
}
