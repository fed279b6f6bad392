/** Reads the text of an editable element line by line, and recognizes fields that only stand for an editor's content. */
const boxkeep = (globalThis.boxkeep ??= {});
const { dom } = boxkeep;

boxkeep.editedText = editedText;
boxkeep.isProxy = isProxy;
boxkeep.copiedText = copiedText;

/** Marks that editors put into empty lines, for the caret to have a place. */
const marks = /[\u200b\ufeff]/g;
/** Collapsible white space; a no-break space is not. */
const blanks = /[ \t\n\r\f]+/g;

/**
 * The lines as the element shows them. The browser's own rendered text has empty lines between paragraphs, and the
 * text of the nodes joins blocks. `isRaw` keeps blanks and line breaks that the page does not show.
 * @param {Element} element @param {{maxLength?: number, isRaw?: boolean}} options
 */
function editedText(element, { maxLength = Infinity, isRaw = false } = {}) {
  const text = { lines: [], line: null, hasSoftEnd: false, length: 0, maxLength, isRaw };
  readContent(text, element, keepsBlanks(getComputedStyle(element)));
  endLine(text);
  return text.lines.join('\n');
}

function readContent(text, parent, isKept) {
  for (let node = dom.firstChild(parent); node !== null && text.length < text.maxLength; node = dom.nextSibling(node)) {
    const type = dom.nodeType(node);
    if (type === Node.TEXT_NODE) readText(text, node.data, isKept);
    else if (type === Node.ELEMENT_NODE) readElement(text, node);
  }
}

function readElement(text, element) {
  if (dom.localName(element) === 'br') {
    text.line ??= '';
    endLine(text);
    return;
  }
  const style = getComputedStyle(element);
  if (style.display === 'none' || isOrnament(element, style)) return;
  const isBlock = style.display !== 'inline' && style.display !== 'contents' && !style.display.startsWith('inline-');
  if (isBlock) endLine(text);
  readContent(text, element, keepsBlanks(style));
  if (isBlock) endLine(text);
}

/** A part that an editor draws between the text, such as a placeholder or a line number. */
function isOrnament(element, { pointerEvents, userSelect }) {
  if (dom.attribute(element, 'contenteditable') !== 'false') return false;
  return dom.attribute(element, 'aria-hidden') === 'true' || pointerEvents === 'none' || userSelect === 'none';
}

function keepsBlanks({ whiteSpaceCollapse }) {
  return whiteSpaceCollapse === 'preserve' || whiteSpaceCollapse === 'break-spaces';
}

function readText(text, data, isKept) {
  const shown = data.replace(marks, '');
  if (isKept || text.isRaw) {
    const [first, ...others] = shown.split('\n');
    if (first !== '' || (data !== '' && shown === '')) add(text, first);
    for (const line of others) {
      text.line ??= '';
      endLine(text);
      // A break at the end of the text has no line of its own until something follows.
      if (line !== '' || text.isRaw) add(text, line);
    }
    return;
  }
  const collapsed = shown.replace(blanks, ' ');
  const isAfterBlank = text.line === null || text.line === '' || text.line.endsWith(' ');
  const added = isAfterBlank ? collapsed.replace(/^ /, '') : collapsed;
  if (added === '') return;
  add(text, added);
  text.hasSoftEnd = added.endsWith(' ');
}

function add(text, added) {
  text.line = (text.line ?? '') + added;
  text.length += added.length;
  text.hasSoftEnd = false;
}

function endLine(text) {
  if (text.line === null) return;
  const line = text.hasSoftEnd ? text.line.slice(0, -1) : text.line;
  // Editors write spaces that HTML would collapse as no-break spaces.
  text.lines.push(line.replaceAll('\u00a0', ' '));
  text.hasSoftEnd = false;
  text.length++;
  text.line = null;
}

/**
 * Whether the field shows nothing of what is typed into it, because an editor takes it away and draws it elsewhere:
 * an element with an edit context, or a text area without room for a character.
 * @param {Element} field
 */
function isProxy(field) {
  if (dom.property(field, 'editContext')) return true;
  if (!(field instanceof HTMLTextAreaElement)) return false;
  const { fontSize, opacity } = getComputedStyle(field);
  const isNarrow = ({ width, height }) => Math.min(width, height) < parseFloat(fontSize) / 2;
  if (opacity === '0' || isNarrow(field.getBoundingClientRect())) return true;
  const parent = field.parentElement;
  return parent !== null && getComputedStyle(parent).overflow === 'hidden' && isNarrow(dom.boxOf(parent));
}

/** What the editor copies of the selected text, or the selected text where the editor leaves this to the browser. */
function copiedText(field) {
  const clipboardData = new DataTransfer();
  const event = new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true, composed: true });
  const isTaken = !dom.dispatch(field, event);
  const native =
    field instanceof HTMLTextAreaElement
      ? field.value
      : (dom.property(field, 'editContext')?.text ?? String(getSelection()));
  return (isTaken ? clipboardData.getData('text/plain') : native).replaceAll('\r\n', '\n');
}
