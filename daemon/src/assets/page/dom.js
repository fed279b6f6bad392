/** Reads nodes through their prototypes, because names in a page can hide the properties of forms and documents. */
const boxkeep = globalThis.boxkeep;
const { getter, method } = boxkeep;

const rectsOf = method(Element, 'getClientRects');
const boxOf = method(Element, 'getBoundingClientRect');
const closest = method(Element, 'closest');
const matches = method(Element, 'matches');
const attribute = method(Element, 'getAttribute');
const tagName = getter(Element, 'tagName');
const rootOf = method(Node, 'getRootNode');
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
const execCommand = method(Document, 'execCommand');

boxkeep.dom = {
  rectsOf,
  boxOf,
  closest,
  matches,
  attribute,
  tagName,
  rootOf,
  isConnected,
  animationsOf,
  documentElement: () => documentElement(document),
  body: () => body(document),
  isHidden: () => hidden(document),
  create: (name) => createElement(document, name),
  createRange: () => createRange(document),
  walker: (root) => createTreeWalker(document, root, NodeFilter.SHOW_ELEMENT),
  execute: (command) => execCommand(document, command),
  /** The topmost element of one tree at a point. */
  atPoint: (root, x, y) => (root === document ? fromDocument(root, x, y) : fromRoot(root, x, y)),
};
boxkeep.describe = describe;

/** An element in a readable form, such as `<div id="overlay" class="modal">`. @param {Element} element */
function describe(element) {
  const attributes = ['id', 'class', 'name', 'type', 'role'].flatMap((name) => {
    const value = attribute(element, name);
    return value ? [` ${name}="${value.length > 80 ? `${value.slice(0, 80)}…` : value}"`] : [];
  });
  return `<${tagName(element).toLowerCase()}${attributes.join('')}>`;
}
