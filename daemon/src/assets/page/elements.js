/** Numbers the elements of a document for refs, and remembers closed shadow roots and clickable elements. */
// A page can give an element the id `boxkeep`, which every world sees as a property of its window.
if (!Object.hasOwn(globalThis, 'boxkeep')) Object.defineProperty(globalThis, 'boxkeep', { value: {} });
const boxkeep = globalThis.boxkeep;

boxkeep.getter = getter;
boxkeep.method = method;

// The names of controls hide the properties of their form in every world, so properties are read from prototypes.
boxkeep.dom = {
  property,
  nodeType: getter(Node, 'nodeType'),
  parentNode: getter(Node, 'parentNode'),
  parentElement: getter(Node, 'parentElement'),
  firstChild: getter(Node, 'firstChild'),
  nextSibling: getter(Node, 'nextSibling'),
  childNodes: getter(Node, 'childNodes'),
  textContent: getter(Node, 'textContent'),
  rootOf: method(Node, 'getRootNode'),
  contains: method(Node, 'contains'),
  dispatch: method(EventTarget, 'dispatchEvent'),
  localName: getter(Element, 'localName'),
  nextElement: getter(Element, 'nextElementSibling'),
  hasAttributes: method(Element, 'hasAttributes'),
  hasAttribute: method(Element, 'hasAttribute'),
  attribute: method(Element, 'getAttribute'),
  attributeNames: method(Element, 'getAttributeNames'),
  checkVisibility: method(Element, 'checkVisibility'),
  queryAll: method(Element, 'querySelectorAll'),
  replaceChildren: method(Element, 'replaceChildren'),
  scrollIntoView: method(Element, 'scrollIntoView'),
  focus: (element, options) => property(element, 'focus').call(element, options),
};
const { nodeType, parentNode, localName } = boxkeep.dom;
const isConnected = getter(Node, 'isConnected');
const ownerDocument = getter(Node, 'ownerDocument');
const shadowRoot = getter(Element, 'shadowRoot');
const slotOfElement = getter(Element, 'assignedSlot');
const slotOfText = getter(Text, 'assignedSlot');

const maxCandidates = 500;
/** Tags of HTML that can have a shadow root. */
const shadowTags = new Set(
  'article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);

// A later daemon may evaluate newer scripts in the same world, so the state outlives the functions.
const state = (boxkeep.state ??= createState());

boxkeep.numberOf = numberOf;
boxkeep.elementOf = elementOf;
boxkeep.shadowRootOf = shadowRootOf;
boxkeep.parentOf = parentOf;
boxkeep.rememberRoot = rememberRoot;
boxkeep.markClickable = markClickable;
boxkeep.isMarked = isMarked;
boxkeep.mayHideRoot = mayHideRoot;
boxkeep.noteCandidate = noteCandidate;
boxkeep.takeCandidates = takeCandidates;
boxkeep.candidates = candidates;

function getter({ prototype }, name) {
  return Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, name).get);
}

function method({ prototype }, name) {
  return Function.prototype.call.bind(prototype[name]);
}

/** A property that only some kinds of nodes have. Nothing hides the properties of nodes other than forms. */
function property(node, name) {
  return node instanceof HTMLFormElement ? Reflect.get(HTMLFormElement.prototype, name, node) : node?.[name];
}

function createState() {
  const elements = new Map();
  return {
    lastNumber: 0,
    /** @type {WeakMap<Element, number>} */
    numbers: new WeakMap(),
    /** @type {Map<number, WeakRef<Element>>} */
    elements,
    collected: new FinalizationRegistry((number) => elements.delete(number)),
    /** @type {WeakMap<Element, ShadowRoot>} */
    closedRoots: new WeakMap(),
    /** @type {WeakSet<Element>} */
    clickable: new WeakSet(),
    /** @type {WeakSet<Element>} Elements that the daemon has looked at for a closed root. */
    examined: new WeakSet(),
    /** @type {Element[]} */
    candidates: [],
  };
}

/** The number of an element or a text, which never changes while the document lives. @param {Node} element */
function numberOf(element) {
  const known = state.numbers.get(element);
  if (known !== undefined) return known;
  const number = ++state.lastNumber;
  state.numbers.set(element, number);
  state.elements.set(number, new WeakRef(element));
  state.collected.register(element, number);
  return number;
}

/** The element or text with a number, or null when it has left the document. @param {number} number */
function elementOf(number) {
  const element = state.elements.get(number)?.deref();
  return element && isConnected(element) && ownerDocument(element) === document ? element : null;
}

/** The open shadow root of an element, or its closed root once the daemon has found it. @param {Element} element */
function shadowRootOf(element) {
  return shadowRoot(element) ?? state.closedRoots.get(element) ?? null;
}

/** The parent in the rendered tree: through slots and out of shadow roots. @param {Node} node */
function parentOf(node) {
  const slot = (nodeType(node) === Node.TEXT_NODE ? slotOfText : slotOfElement)(node);
  if (slot) return slot;
  const parent = parentNode(node);
  if (parent === null || nodeType(parent) === Node.ELEMENT_NODE) return parent;
  return parent.host ?? null;
}

/** @param {Element} host @param {ShadowRoot} root */
function rememberRoot(host, root) {
  state.closedRoots.set(host, root);
  // Roots within roots are found without another walk of the document.
  for (const element of root.querySelectorAll('*')) noteCandidate(element);
}

/** How many elements wait for a look of the daemon, and whether there may be more. */
function candidates() {
  const { length } = state.candidates;
  return { candidates: length, hasMore: length >= maxCandidates };
}

/** @param {Element} element */
function markClickable(element) {
  state.clickable.add(element);
}

/** @param {Element} element */
function isMarked(element) {
  return state.clickable.has(element);
}

/** Notes an element without an open shadow root whose looks allow a closed one. @param {Element} element */
function noteCandidate(element) {
  const tag = localName(element);
  if (tag.includes('-') && element.matches(':defined')) mayHideRoot(element);
  else if (element.firstChild === null && (shadowTags.has(tag) || tag.includes('-')) && element.offsetHeight > 0)
    mayHideRoot(element);
}

/** Notes an element that may have a closed shadow root. @param {Element} element */
function mayHideRoot(element) {
  if (state.candidates.length >= maxCandidates || state.examined.has(element)) return;
  if (!state.candidates.includes(element)) state.candidates.push(element);
}

/** The elements that have been noted since the last call, in an array that the daemon reads by reference. */
function takeCandidates() {
  const { candidates } = state;
  state.candidates = [];
  for (const element of candidates) state.examined.add(element);
  return candidates;
}
