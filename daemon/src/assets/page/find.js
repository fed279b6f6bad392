/** Finds the first element that a CSS selector matches, shadow trees included. */
const boxkeep = globalThis.boxkeep;
const fromDocument = Document.prototype.querySelector;
const fromRoot = DocumentFragment.prototype.querySelector;

boxkeep.find = find;
boxkeep.page = page;

/** The root element; null when a script has removed the element. */
function page() {
  const root = boxkeep.dom.documentElement();
  return root === null ? null : { number: boxkeep.numberOf(root) };
}

/** @param {{selector: string}} argument */
function find({ selector }) {
  try {
    const found = fromDocument.call(document, selector) ?? findInShadow(document, selector);
    if (found !== null) return { kind: 'found', number: boxkeep.numberOf(found) };
    return { kind: 'missing', ...(boxkeep.state.candidates.length > 0 && { hasCandidates: true }) };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'SyntaxError') return { kind: 'invalid' };
    throw error;
  }
}

/** @param {Node} root @param {string} selector */
function findInShadow(root, selector) {
  const walker = boxkeep.dom.walker(root);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const shadow = boxkeep.shadowRootOf(node);
    if (shadow === null) boxkeep.noteCandidate(node);
    const found = shadow && (fromRoot.call(shadow, selector) ?? findInShadow(shadow, selector));
    if (found) return found;
  }
  return null;
}
