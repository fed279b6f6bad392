/** Finds the first element that a CSS selector matches, shadow trees included. */
const boxkeep = globalThis.boxkeep;
const fromDocument = Document.prototype.querySelector;
const fromRoot = DocumentFragment.prototype.querySelector;

boxkeep.find = find;

/** @param {{selector: string}} argument */
function find({ selector }) {
  try {
    const found = fromDocument.call(document, selector) ?? findInShadow(document, selector);
    return found === null ? { kind: 'missing' } : { kind: 'found', number: boxkeep.numberOf(found) };
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
    const found = shadow && (fromRoot.call(shadow, selector) ?? findInShadow(shadow, selector));
    if (found) return found;
  }
  return null;
}
