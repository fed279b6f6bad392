/** Walks the rendered tree of a document once and lists its accessible nodes in order, each with its depth. */
const boxkeep = (globalThis.boxkeep ??= {});
const { numberOf, elementOf, shadowRootOf, isMarked, mayHideRoot, noteCandidate, roleOf, isFrame, valueOf, statesOf } =
  boxkeep;
const { dom } = boxkeep;
const { nameOf, fallbackName, generatedText, tidy, interactiveRoles, contentRoles, namedRoles } = boxkeep;
boxkeep.snapshot = snapshot;

const words = (text) => new Set(text.split(' '));
const skippedTags = words(
  'script style template noscript head link meta base param source track datalist defs desc title',
);
const leafTags = words('input textarea img iframe frame canvas video audio meter progress');
const captionTags = words('legend caption figcaption');

/** Roles whose name is their whole text, while the controls in them keep their nodes. */
const titleRoles = words('heading columnheader rowheader');
/** Roles of nodes that belong to a list of their own below an item. */
const itemRoles = words('group tree treeitem menu menuitem menuitemcheckbox menuitemradio listbox option');
/** Controls that stand for their value within the text of another one. */
const valuedRoles = words('textbox searchbox combobox spinbutton slider');

const maxTextLength = 20_000;
/** The parser of HTML nests at most 512 elements; deeper trees would overflow the stack. */
const maxLevel = 600;

/**
 * The accessible nodes below an element or of the whole document: `rows` of `[depth, role, name, number,
 * value, states, kind]` (kind 1: interactive, 2: frame), whether elements may hide closed roots, and what was cut.
 */
function snapshot({ root = null, maxNodes, maxCharacters, maxMs, hasTextRefs = false }) {
  const walk = createWalk(maxNodes, maxCharacters, performance.now() + maxMs);
  const known = root === null ? document.documentElement : elementOf(root);
  const start = known && dom.elementOf(known);
  if (start === null) return root === null ? emptyDocument() : { rows: null };
  if (root === null) {
    push(walk, { depth: 0, role: 'document', name: tidy(document.title), element: start, kind: 0 });
    visit(walk, start, 1, false);
  } else {
    visitRoot(walk, start);
  }
  return {
    rows: serialized(walk.rows, hasTextRefs),
    ...boxkeep.candidates(),
    cut: walk.full === null && walk.cutCharacters === 0 && !walk.isDeep ? null : cutOf(walk),
  };
}

/** A script may have removed the root element. */
function emptyDocument() {
  return { rows: [[0, 'document', '', 0, null, [], 0]], candidates: 0, hasMore: false, cut: null };
}

/** The root has a node in any case, even where it is hidden or only its content matters. */
function visitRoot(walk, element) {
  visit(walk, element, 0, false);
  if (walk.rows[0]?.element === element) return;
  for (const row of walk.rows) row.depth++;
  const states = dom.checkVisibility(element, { visibilityProperty: true }) ? [] : ['hidden'];
  walk.rows.unshift({ depth: 0, role: 'generic', name: '', element, kind: 0, states });
}

function createWalk(maxNodes, maxCharacters, deadline) {
  const walk = { rows: [], visited: 0, level: 0, characters: 0, maxNodes, maxCharacters, deadline };
  const modals = document.querySelectorAll('dialog:modal');
  // A separate text begins: blocks separate texts, inline elements do not.
  return Object.assign(walk, {
    isSeparated: true,
    modal: modals.length === 0 ? null : modals[modals.length - 1],
    focused: focusedElement(),
    full: null,
    cutCharacters: 0,
    isDeep: false,
  });
}

function focusedElement() {
  let element = document.activeElement;
  for (;;) {
    const inner = element && shadowRootOf(element)?.activeElement;
    if (!inner) return element === document.body ? null : element;
    element = inner;
  }
}

/** Adds the nodes of an element. The content of an element without a role takes its place. */
function visit(walk, element, depth, isParentPointer) {
  const tag = dom.localName(element);
  if (tag === 'slot') return visitSlot(walk, element, depth, isParentPointer);
  if (tag === 'br' || tag === 'wbr') {
    if (tag === 'br') walk.isSeparated = true;
    return;
  }
  if (skippedTags.has(tag) || isFull(walk) || isExcluded(walk, element)) return;
  const style = getComputedStyle(element);
  const display = style.display;
  if (display === 'none' && tag !== 'area') return;
  if (display === '') {
    // Only a child of a shadow host that no slot shows has no style.
    const parent = dom.parentElement(element);
    if (parent !== null) mayHideRoot(parent);
    return;
  }
  const isBlock = display !== 'inline' && display !== 'contents';
  if (isBlock) walk.isSeparated = true;
  const isVisible = style.visibility === 'visible';
  const isPointer = style.cursor === 'pointer';
  walk.level++;
  if (isVisible) visitVisible(walk, element, tag, depth, isPointer, isPointer && !isParentPointer);
  else visitContent(walk, element, tag, depth, isPointer, false);
  walk.level--;
  if (isBlock) walk.isSeparated = true;
}

function isExcluded(walk, element) {
  if (dom.hasAttributes(element)) {
    if (dom.attribute(element, 'aria-hidden') === 'true' || dom.hasAttribute(element, 'inert')) return true;
    if (dom.attribute(element, 'hidden') === 'until-found') return true;
  }
  const { modal } = walk;
  if (modal === null || modal.contains(element)) return false;
  // Everything beside an open modal dialog is inert.
  return !dom.contains(element, modal) && dom.rootOf(element) === modal.getRootNode();
}

function visitVisible(walk, element, tag, depth, isPointer, hasOwnPointer) {
  let role = roleOf(element);
  let kind = role === 'iframe' && isFrame(element) ? 2 : interactiveRoles.has(role) ? 1 : 0;
  const extra = kind === 0 ? extraStates(element, tag, hasOwnPointer) : null;
  const control = extra !== null && tag === 'label' ? hiddenControl(element) : null;
  if (extra !== null) {
    kind = 1;
    role ||= control === null ? 'generic' : roleOf(control);
  }
  const name = role === '' ? '' : nameOf(element);
  if (role === '' || (name === '' && kind === 0 && namedRoles.has(role) && fallbackName(element) === '')) {
    visitCollapsed(walk, element, tag, depth, isPointer);
    return;
  }
  const row = { depth, role, name, element, kind, value: valueOf(element, role), states: statesOf(element, role) };
  if (control !== null) row.states.push(...statesOf(control, role));
  else if (extra !== null) row.states.push(...extra);
  if (element === walk.focused) row.states.push('focused');
  const start = push(walk, row);
  if (tag === 'select') visitOptions(walk, element, depth + 1, role === 'listbox');
  else if (!leafTags.has(tag) && (role !== 'img' || name === ''))
    visitContent(walk, element, tag, depth + 1, isPointer, true);
  settle(walk, row, start);
}

/** The states of an element that has no interactive role and can still be acted on; null when it cannot. */
function extraStates(element, tag, hasOwnPointer) {
  if (tag === 'html' || tag === 'body') return null;
  if (tag === 'video' || tag === 'audio') return element.controls ? [] : null;
  const states = [];
  const hasAttributes = dom.hasAttributes(element);
  if (tag === 'label' && element.control !== null) return hiddenControl(element) === null ? null : ['clickable'];
  if (hasOwnPointer || isMarked(element)) states.push('clickable');
  else if (hasAttributes && (dom.hasAttribute(element, 'onclick') || dom.property(element, 'tabIndex') >= 0))
    states.push('clickable');
  if (hasAttributes && dom.attribute(element, 'draggable') === 'true') states.push('draggable');
  return states.length === 0 ? null : states;
}

/** The control of a label when the page shows the label in its place. */
function hiddenControl(label) {
  const { control } = label;
  return control === null || control.checkVisibility({ visibilityProperty: true }) ? null : control;
}

function visitCollapsed(walk, element, tag, depth, isPointer) {
  const isNaming = (tag === 'label' && isNameOfControl(element)) || (captionTags.has(tag) && isNameOfParent(element));
  if (!isNaming) {
    visitContent(walk, element, tag, depth, isPointer, true);
    return;
  }
  walk.isSeparated = true;
  const start = walk.rows.length;
  visitContent(walk, element, tag, depth, isPointer, true);
  // The text is the name of another node already.
  removeRows(walk, start, (row) => row.role === 'text' && row.depth === depth);
  walk.isSeparated = true;
}

function isNameOfControl({ control }) {
  if (control === null || control.hasAttribute('aria-label') || control.hasAttribute('aria-labelledby')) return false;
  return control.checkVisibility({ visibilityProperty: true });
}

function isNameOfParent(element) {
  const parent = dom.parentElement(element);
  return parent !== null && !dom.hasAttribute(parent, 'aria-label') && !dom.hasAttribute(parent, 'aria-labelledby');
}

function visitSlot(walk, slot, depth, isParentPointer) {
  const assigned = slot.assignedNodes();
  const style = getComputedStyle(slot);
  if (style.display === 'none') return;
  const isVisible = style.visibility === 'visible';
  for (const node of assigned.length > 0 ? assigned : slot.childNodes) {
    if (walk.full !== null) return;
    visitNode(walk, node, depth, isParentPointer, isVisible);
  }
}

function visitContent(walk, element, tag, depth, isPointer, isVisible) {
  const root = shadowRootOf(element);
  if (root === null) noteCandidate(element);
  const isClosed = tag === 'details' && !element.open;
  for (let node = dom.firstChild(root ?? element); node !== null && walk.full === null; node = dom.nextSibling(node)) {
    if (isClosed && node.localName !== 'summary') continue;
    visitNode(walk, node, depth, isPointer, isVisible);
  }
}

function visitNode(walk, node, depth, isPointer, isVisible) {
  const type = dom.nodeType(node);
  if (type === Node.ELEMENT_NODE) visit(walk, node, depth, isPointer);
  else if (type === Node.TEXT_NODE && isVisible) pushText(walk, node, depth);
}

function visitOptions(walk, parent, depth, isList) {
  for (const child of parent.children) {
    if (isFull(walk)) return;
    if (child.hidden) continue;
    if (child.localName === 'optgroup') {
      push(walk, { depth, role: 'group', name: nameOf(child), element: isList ? child : null, kind: 0 });
      visitOptions(walk, child, depth + 1, isList);
    } else if (child.localName === 'option') {
      // Only the options of a list are on the screen; those of a menu are chosen through the menu.
      const states = statesOf(child, 'option');
      push(walk, { depth, role: 'option', name: nameOf(child), element: isList ? child : null, kind: 1, states });
    }
  }
}

function push(walk, row) {
  row.isSeparated = walk.isSeparated;
  walk.isSeparated = false;
  walk.characters += row.name.length;
  return walk.rows.push(row);
}

function pushText(walk, node, depth) {
  const { data } = node;
  const { rows } = walk;
  const last = rows[rows.length - 1];
  const isContinued = !walk.isSeparated && last !== undefined && last.role === 'text' && last.depth === depth;
  if (!/[^\s\u200b\ufeff]/.test(data)) {
    if (!isContinued) walk.isSeparated = true;
    else if (!last.name.endsWith(' ')) last.name += ' ';
    return;
  }
  if (data.length > maxTextLength) walk.cutCharacters += data.length - maxTextLength;
  const text = (data.length > maxTextLength ? `${data.slice(0, maxTextLength)}…` : data).replace(/\s+/g, ' ');
  if (isContinued && last.name.length < maxTextLength) {
    last.name += text;
    walk.characters += text.length;
  } else {
    push(walk, { depth, role: 'text', name: text, element: null, node, kind: 0 });
  }
}

/** Gives an element the name that its content makes, and drops the content that says nothing more. */
function settle(walk, row, start) {
  const { rows } = walk;
  if (contentRoles.has(row.role) && rows.length > start) nameFromContent(walk, row, start);
  else if (row.role === 'textbox') removeRows(walk, start, ({ kind }) => kind === 0);
  if (row.name !== '' || row.role === 'text') return;
  row.name = fallbackName(row.element);
  if (row.name === '' && row.kind === 1 && rows.length === start) row.name = generatedText(row.element);
}

function nameFromContent(walk, row, start) {
  const { rows } = walk;
  const isWidget = interactiveRoles.has(row.role);
  const content = rows.slice(start);
  const isText = content.every(({ role }) => role === 'text');
  if (!isText && !isWidget && !titleRoles.has(row.role)) return;
  const text = contentText(rows, start);
  const isActive = (other) => other.kind !== 0 && !isSameTarget(other, text);
  if (isText || (isWidget && !content.some(isActive))) {
    // A long text keeps its nodes, because a name is shortened.
    if (text.length > 500 && !isWidget) return;
    row.name ||= tidy(text);
    rows.length = start;
  } else {
    row.name ||= tidy(text);
    removeRows(
      walk,
      start,
      (other) => other.depth === row.depth + 1 && (other.role === 'text' || other.role === 'img'),
    );
  }
}

/** Whether a click on the node means its widget: an element without a role that has the whole text of the widget. */
function isSameTarget({ role, name }, text) {
  return role === 'generic' && name !== '' && name === tidy(text);
}

/** The text of the nodes. A node with a name counts by it; the items below an item are not part of its text. */
function contentText(rows, start) {
  let text = '';
  for (let at = start; at < rows.length;) {
    const { role, name, value, depth, isSeparated } = rows[at++];
    const isItem = itemRoles.has(role);
    const own = isItem ? '' : (valuedRoles.has(role) && value) || name;
    text += isSeparated || isItem ? ` ${own}` : own;
    if (own !== '' || isItem) while (at < rows.length && rows[at].depth > depth) at++;
  }
  return text.replace(/\s+/g, ' ').trim();
}

function removeRows(walk, start, isRemoved) {
  const kept = walk.rows.slice(start).filter((row) => !isRemoved(row));
  walk.rows.length = start;
  for (const row of kept) walk.rows.push(row);
}

function isFull(walk) {
  if (walk.full !== null) return true;
  if (walk.rows.length >= walk.maxNodes) walk.full = 'nodes';
  else if (walk.characters >= walk.maxCharacters) walk.full = 'characters';
  else if (walk.level >= maxLevel) return (walk.isDeep = true);
  else if ((++walk.visited & 255) === 0 && performance.now() > walk.deadline) walk.full = 'time';
  return walk.full !== null;
}

function cutOf(walk) {
  const elements = walk.full === null ? 0 : document.getElementsByTagName('*').length - walk.visited;
  return {
    reason: walk.full ?? (walk.isDeep ? 'depth' : 'length'),
    elements: Math.max(0, elements),
    characters: walk.cutCharacters,
  };
}

/** A text has a number only where the caller looks for texts, because a page has many. */
function serialized(rows, hasTextRefs) {
  const list = [];
  for (const { depth, role, name, element, node, value, states, kind } of rows) {
    const text = role === 'text' ? name.trim() : name;
    if (role === 'text' && text === '') continue;
    const numbered = role === 'text' && hasTextRefs ? node : element;
    const number = numbered ? numberOf(numbered) : 0;
    if (kind === 1 && element !== null) boxkeep.noteBox(element);
    list.push([depth, role, text, number, value ?? null, states ?? [], kind]);
  }
  return list;
}
