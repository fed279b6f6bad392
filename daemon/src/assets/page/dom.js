/** Reads nodes through their prototypes, because names in a page can hide the properties of forms and documents. */
const boxkeep = globalThis.boxkeep;
const { getter, method } = boxkeep;
const { nodeType, parentNode, attribute } = boxkeep.dom;

const elementRects = method(Element, 'getClientRects');
const elementBox = method(Element, 'getBoundingClientRect');
const closest = method(Element, 'closest');
const matches = method(Element, 'matches');
const tagName = getter(Element, 'tagName');
const isConnected = getter(Node, 'isConnected');
const fromDocument = method(Document, 'elementFromPoint');
const fromRoot = method(ShadowRoot, 'elementFromPoint');
const animationsOf = (root) => (root instanceof ShadowRoot ? inRoot(root) : inDocument(root));
const inDocument = method(Document, 'getAnimations');
const inRoot = method(ShadowRoot, 'getAnimations');
const documentElement = getter(Document, 'documentElement');
const body = getter(Document, 'body');
const hidden = getter(Document, 'hidden');
const createElement = method(Document, 'createElement');
const createRange = method(Document, 'createRange');
const createTreeWalker = method(Document, 'createTreeWalker');

const isText = (node) => nodeType(node) === Node.TEXT_NODE;

Object.assign(boxkeep.dom, {
  isText,
  /** The boxes of an element, of a text, or of the shape of an area on its image. */
  rectsOf(node) {
    if (isText(node)) return rangeRects(node, (range) => range.selectNode(node));
    return node instanceof HTMLAreaElement ? boxkeep.areaRects(node) : elementRects(node);
  },
  boxOf(node) {
    if (!isText(node) && !(node instanceof HTMLAreaElement)) return elementBox(node);
    return boxkeep.dom.rectsOf(node)[0] ?? new DOMRect();
  },
  /** The boxes of what is in an element or a shadow root. */
  contentRects: (node) => rangeRects(node, (range) => range.selectNodeContents(node)),
  /** The element itself, or the one that holds the text. */
  elementOf(node) {
    if (!isText(node)) return node;
    const parent = parentNode(node);
    return parent instanceof ShadowRoot ? parent.host : parent;
  },
  closest,
  matches,
  tagName,
  isConnected,
  animationsOf,
  documentElement: () => documentElement(document),
  body: () => body(document),
  isHidden: () => hidden(document),
  create: (name) => createElement(document, name),
  walker: (root) => createTreeWalker(document, root, NodeFilter.SHOW_ELEMENT),
  /** The topmost element of one tree at a point. */
  atPoint: (root, x, y) => (root === document ? fromDocument(root, x, y) : fromRoot(root, x, y)),
});
boxkeep.describe = describe;

function rangeRects(node, select) {
  const range = createRange(document);
  select(range);
  return range.getClientRects();
}

/** An element in a readable form, such as `<div id="overlay" class="modal">`. @param {Node} node */
function describe(node) {
  const element = boxkeep.dom.elementOf(node);
  const attributes = ['id', 'class', 'name', 'type', 'role'].flatMap((name) => {
    const value = attribute(element, name);
    return value ? [` ${name}="${value.length > 80 ? `${value.slice(0, 80)}…` : value}"`] : [];
  });
  return `<${tagName(element).toLowerCase()}${attributes.join('')}>`;
}
