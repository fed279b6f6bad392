/** Puts a value into a field, or prepares the field for text that the daemon types, and reads the field afterwards. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.fill = fill;
boxkeep.filled = filled;
boxkeep.isChecked = isChecked;
boxkeep.takeFocus = takeFocus;
boxkeep.selectAll = selectAll;
boxkeep.paste = paste;
boxkeep.copied = copied;

const textTypes = ['text', 'search', 'tel', 'url', 'email', 'password'];
const fields =
  'input:not([type=hidden]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=slider]';
/** Fields whose value has a format. Only the native setter reaches all of them. */
const formats = {
  number: 'a number such as 12.5',
  range: 'a number such as 50',
  color: 'a colour such as #ff8800',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 13:45',
  month: 'a month such as 2026-01',
  week: 'a week such as 2026-W05',
  'datetime-local': 'a date and time such as 2026-01-31T13:45',
};
/** Inserted text costs time with its square, so a longer text is set at once. */
const maxInsertedLength = 20_000;
/** A longer value is reported by its length. */
const maxReportedLength = 1000;

/**
 * Asks the daemon to type `text` over what is selected (`type`), to put it into an editor that has the focus (`edit`),
 * to move a slider with keys (`step`), or to click the field or the radio button with a number (`click`).
 * @param {Element} element @param {{value: string | number | boolean | string[]}} argument
 */
function fill(element, { value }) {
  const field = fieldOf(element);
  const hindrance = boxkeep.hindranceOf(field);
  if (hindrance) return { kind: 'waiting', ...hindrance, element: boxkeep.describe(field) };
  const outcome = isShown(field) ? put(field, value) : waitingFor('invisible');
  // Read at once: the next frame of a page with a long text takes seconds.
  const held = outcome.kind === 'done' ? { held: filled(field, { value }) } : {};
  return { ...outcome, ...held, element: boxkeep.describe(field) };
}

/** A field that is not typed into, or that stands for an editor, may have a box without area. */
function isShown(field) {
  if (boxkeep.isVisible(field) || isCheckable(field)) return true;
  return (boxkeep.isProxy(field) || boxkeep.isStepped(field) || boxkeep.isRadioGroup(field)) && isRendered(field);
}

function isRendered(field) {
  return dom.rectsOf(field).length > 0 && getComputedStyle(field).visibility === 'visible';
}

function waitingFor(reason) {
  return { kind: 'waiting', reason };
}

function refused(why) {
  return { kind: 'refused', why };
}

/** A label stands for its control, and an element around a single field for that field. @param {Element} element */
function fieldOf(element) {
  if (element instanceof HTMLLabelElement && element.control) return element.control;
  if (isField(element)) return element;
  const root = boxkeep.shadowRootOf(element);
  const inner = [...(root?.querySelectorAll(fields) ?? dom.queryAll(element, fields))].filter(isUsable);
  return inner.length === 1 ? inner[0] : element;
}

function isField(element) {
  return (
    dom.matches(element, fields) ||
    isEditable(element) ||
    isCheckable(element) ||
    Boolean(dom.property(element, 'editContext'))
  );
}

function isEditable(element) {
  return dom.property(element, 'isContentEditable');
}

/** A part of an editable element is not a field of its own. */
function isUsable(field) {
  if (dom.property(field, 'readOnly') || dom.attribute(field, 'aria-hidden') === 'true') return false;
  return !(isEditable(field) && isEditable(boxkeep.parentOf(field))) && isRendered(field);
}

function put(field, value) {
  if (isCheckable(field)) return check(field, value);
  if (field instanceof HTMLSelectElement) return boxkeep.select(field, value);
  if (boxkeep.isStepped(field)) return focusOn(field) ?? boxkeep.step(field, value);
  if (boxkeep.isRadioGroup(field)) return boxkeep.chooseRadio(field, value);
  if (Array.isArray(value)) return refused('takes one value and not an array');
  if (typeof value === 'boolean') return refused(`takes text and not ${value}`);
  const text = String(value).replaceAll('\r\n', '\n');
  if (boxkeep.isProxy(field)) return focusOn(field) ?? { kind: 'edit', text, isProxy: true };
  if (field instanceof HTMLTextAreaElement) return typeInto(field, text);
  if (field instanceof HTMLInputElement) return putInput(field, text);
  if (isEditable(field)) return edit(field, text);
  return refused('is not a field that takes a value');
}

function putInput(field, text) {
  if (textTypes.includes(field.type)) return typeInto(field, text.replaceAll('\n', ''));
  if (field.type in formats) return field.readOnly ? refused('is read-only') : setFormatted(field, text.trim());
  if (field.type === 'file') return refused('takes files and not text');
  return refused(`is an input of type ${field.type}, which takes no value`);
}

/** Selects what the field holds, so that typed text replaces it. @param {string} text */
function typeInto(field, text) {
  if (field.readOnly) return refused('is read-only');
  if (field.maxLength >= 0 && text.length > field.maxLength) {
    return refused(`takes at most ${field.maxLength} characters, and the value has ${text.length}`);
  }
  const waiting = focusOn(field);
  if (waiting) return waiting;
  if (text === '' && field.value === '') return { kind: 'done' };
  field.select();
  if (text.length <= maxInsertedLength) return { kind: 'type', text };
  setAndNotify(field, text);
  return { kind: 'done' };
}

/** A part of an editable element is filled by itself, and the rest of it stays. */
function edit(field, text) {
  const host = editingHost(field);
  const waiting = focusOn(host);
  if (waiting) return waiting;
  if (host !== field) getSelection().selectAllChildren(field);
  return { kind: 'edit', text, isWhole: host === field };
}

/** Null once the element has the focus. */
function focusOn(element) {
  dom.scrollIntoView(element, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  dom.focus(element, { preventScroll: true });
  return dom.rootOf(element).activeElement === element ? null : waitingFor('unfocused');
}

function editingHost(element) {
  let host = element;
  for (let at = element; isEditable(at); at = boxkeep.parentOf(at)) host = at;
  return host;
}

/** Waits until an editor has seen the selection, which the keys of the daemon have made unless the page took them. */
async function selectAll(element) {
  const field = fieldOf(element);
  if (isEditable(field) && getSelection().isCollapsed) getSelection().selectAllChildren(field);
  await boxkeep.nextFrame();
  return {};
}

/** Answers whether an editor has taken the text, or the page has it without. @param {{text: string}} argument */
function paste(element, { text }) {
  const field = fieldOf(element);
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true });
  if (!dom.dispatch(field, event)) return { isTaken: true };
  const context = dom.property(field, 'editContext');
  context?.updateSelection(0, context.text.length);
  if (text.length <= maxInsertedLength || !isEditable(field)) return { isTaken: false };
  setEditable(field, text);
  return { isTaken: true };
}

/** Tells the page before and after, as typing does, so that an editor may take the text itself. */
function setEditable(field, text) {
  const event = { inputType: 'insertText', data: text, bubbles: true, composed: true };
  if (!dom.dispatch(field, new InputEvent('beforeinput', { ...event, cancelable: true }))) return;
  dom.replaceChildren(field, ...text.split('\n').map(lineElement));
  dom.dispatch(field, new InputEvent('input', event));
}

/** A line as the browser makes it when a user types one. */
function lineElement(line) {
  const element = dom.create('div');
  if (line === '') element.append(dom.create('br'));
  else element.textContent = line;
  return element;
}

function setFormatted(field, text) {
  const before = field.value;
  setValue(field, text);
  const isTaken = text === '' ? before === '' || field.value !== before : isEqual(field, text);
  if (!isTaken) {
    setValue(field, before);
    return refused(`takes ${formats[field.type]}${rangeOf(field)}`);
  }
  field.focus();
  notify(field);
  return { kind: 'done' };
}

/** A range moves a value into its limits and a colour becomes lower case, so only the meaning is compared. */
function isEqual(field, text) {
  if (field.type === 'number' || field.type === 'range')
    return field.value !== '' && Number(field.value) === Number(text);
  if (field.type === 'color') return field.value === text.toLowerCase();
  return field.value !== '';
}

function rangeOf({ type, min, max, step }) {
  if (type !== 'range') return '';
  return ` from ${min || 0} to ${max || 100} in steps of ${step || 1}`;
}

function setAndNotify(field, text) {
  setValue(field, text);
  notify(field);
}

function setValue(field, text) {
  const { prototype } = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(prototype, 'value').set.call(field, text);
}

function notify(field) {
  field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

function isCheckable(field) {
  if (field instanceof HTMLInputElement) return field.type === 'checkbox' || field.type === 'radio';
  return ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio'].includes(dom.attribute(field, 'role'));
}

function isChecked(field) {
  if (!(field instanceof HTMLInputElement)) return dom.attribute(field, 'aria-checked') === 'true';
  return field.checked && !field.indeterminate;
}

function check(field, value) {
  const wanted = { true: true, on: true, false: false, off: false }[String(value)];
  if (wanted === undefined) return refused('takes true or false');
  if (isChecked(field) === wanted) return { kind: 'done' };
  const isRadio = field.type === 'radio' || dom.attribute(field, 'role')?.endsWith('radio');
  if (isRadio && !wanted) return refused('is a radio button, which only another one of its group can clear');
  return { kind: 'click' };
}

/**
 * What the field holds, without the value of a password. `matches` compares with the value that was wanted.
 * @param {Element} element @param {{value: string | number | boolean | string[]}} argument
 */
function filled(element, { value }) {
  const field = fieldOf(element);
  if (isCheckable(field)) {
    const checked = isChecked(field);
    return { value: checked, matches: checked === ['true', 'on'].includes(String(value)) };
  }
  if (field instanceof HTMLSelectElement) return boxkeep.selected(field, value);
  if (boxkeep.isStepped(field)) return boxkeep.stepped(field, value);
  if (boxkeep.isRadioGroup(field)) return boxkeep.chosenRadio(field, value);
  const wanted = String(value).replaceAll('\r\n', '\n');
  const held = textOf(field, wanted);
  const matches = isHeld(field, held, wanted);
  return field.type === 'password' ? { matches } : report(held, matches);
}

function isHeld(field, held, wanted) {
  if (field instanceof HTMLTextAreaElement) return held === wanted;
  if (!(field instanceof HTMLInputElement)) return held === plain(wanted);
  if (field.type in formats) return wanted.trim() === '' ? held === '' : isEqual(field, wanted.trim());
  const line = wanted.replaceAll('\n', '');
  return held === (field.type === 'email' || field.type === 'url' ? line.trim() : line);
}

function textOf(field, wanted) {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value;
  const shown = boxkeep.editedText(field);
  // An editor may hold a tab or a last line break that the page does not show.
  return shown !== plain(wanted) && boxkeep.editedText(field, { isRaw: true }) === plain(wanted)
    ? plain(wanted)
    : shown;
}

/** Editors write a space as a no-break space where HTML would collapse it. */
function plain(text) {
  return text.replaceAll('\u00a0', ' ');
}

/**
 * As `filled`, of an editor that shows only a part of its text or shows it elsewhere: what it copies when all is
 * selected. Null for an editor that shows all.
 */
function copied(element, { value }) {
  const field = fieldOf(element);
  const text = boxkeep.copiedText(field);
  const isWhole = withoutBlanks(text).length <= withoutBlanks(boxkeep.editedText(field)).length;
  if (isWhole && !boxkeep.isProxy(field)) return null;
  const wanted = String(value).replaceAll('\r\n', '\n');
  // Code editors copy the line of the caret when nothing is selected.
  const held = wanted === '' && text === '\n' ? '' : text;
  return report(held, held === wanted);
}

function withoutBlanks(text) {
  return text.replace(/\s+/g, '');
}

function report(held, matches) {
  return held.length > maxReportedLength ? { length: held.length, matches } : { value: held, matches };
}

/** Gives an element the focus for keys that the daemon presses. @param {Element} element */
function takeFocus(element) {
  const field = fieldOf(element);
  const hindrance = boxkeep.hindranceOf(field);
  if (hindrance) return { kind: 'waiting', ...hindrance, element: boxkeep.describe(field) };
  if (hasFocus(field)) return { kind: 'done' };
  dom.scrollIntoView(field, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  dom.focus(field, { preventScroll: true });
  // A key outside the element would act on another one. The document takes keys while nothing has the focus.
  const isDocument = field === dom.body() || field === dom.documentElement();
  if (isDocument || hasFocus(field)) return { kind: 'done' };
  return { ...refused('cannot have the focus, so it takes no keys'), element: boxkeep.describe(field) };
}

/** The focus may be on a part of the element, in shadow trees too. */
function hasFocus(field) {
  for (let at = deepestActive(); at; at = boxkeep.parentOf(at)) if (at === field) return true;
  return false;
}

function deepestActive() {
  let active = document.activeElement;
  for (;;) {
    const inner = active && boxkeep.shadowRootOf(active)?.activeElement;
    if (!inner) return active === dom.body() ? null : active;
    active = inner;
  }
}
