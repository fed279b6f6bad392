/** Prepares a screenshot: scrolls to an element, and draws refs over elements in a closed shadow root. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;
const state = boxkeep.state;

boxkeep.showLabels = showLabels;
boxkeep.hideLabels = hideLabels;
boxkeep.shownBox = shownBox;

const colors = ['#c2185b', '#1565c0', '#2e7d32', '#6a1b9a', '#bf360c', '#00695c'];

/**
 * Answers the number of labels. Elements that are not drawn have none.
 * @param {{labels: {number: number, text: string}[]}} argument
 */
function showLabels({ labels }) {
  hideLabels();
  const host = dom.create('div');
  setStyle(host, { all: 'initial', position: 'absolute', left: '0', top: '0', width: '0', height: '0' });
  setStyle(host, { overflow: 'visible', 'pointer-events': 'none', 'z-index': '2147483647' });
  const root = host.attachShadow({ mode: 'closed' });
  dom.documentElement().append(host);
  state.labels = host;
  raise(host);
  const origin = dom.boxOf(host);
  const drawn = labels.flatMap(({ number, text }) => {
    const element = boxkeep.elementOf(number);
    const box = element && boxkeep.isVisible(element) ? dom.boxOf(element) : null;
    return box ? [draw(box, origin, text, colors[number % colors.length])] : [];
  });
  root.append(...drawn);
  return { count: drawn.length };
}

/** Lifts the labels above modal dialogs. */
function raise(host) {
  host.popover = 'manual';
  host.showPopover();
}

/** @param {DOMRect} box @param {DOMRect} origin @param {string} text @param {string} color */
function draw(box, origin, text, color) {
  const frame = dom.create('div');
  setStyle(frame, { position: 'absolute', 'box-sizing': 'border-box', border: `1px solid ${color}` });
  setStyle(frame, { left: `${box.left - origin.left}px`, top: `${box.top - origin.top}px` });
  setStyle(frame, { width: `${box.width}px`, height: `${box.height}px` });
  const tag = dom.create('span');
  tag.textContent = text;
  setStyle(tag, { position: 'absolute', left: '-1px', padding: '0 2px', background: color, color: '#fff' });
  setStyle(tag, { font: 'bold 10px/12px monospace', 'white-space': 'nowrap' });
  // Above the element when there is room, so that the label does not cover the text of the element.
  setStyle(tag, box.top >= 12 ? { bottom: '100%' } : { top: '-1px' });
  frame.append(tag);
  return frame;
}

function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value, 'important');
}

function hideLabels() {
  state.labels?.remove();
  state.labels = null;
  return {};
}

/** The box of an element once the element is in the view of its frame. */
function shownBox(element) {
  dom.scrollIntoView(element, { block: 'center', inline: 'nearest', behavior: 'instant' });
  const { x, y, width, height } = dom.boxOf(element);
  return { x, y, width, height };
}
