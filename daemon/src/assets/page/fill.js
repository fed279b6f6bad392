/** Puts a value into a field, or prepares the field for text that the daemon types, and reads the field afterwards. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.fill = fill;
boxkeep.filled = filled;

const textTypes = ['text', 'search', 'tel', 'url', 'email', 'password'];
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
/** Typed text costs time with its square, so a longer text is set at once. */
const maxTypedLength = 20_000;
/** A longer value is reported by its length. */
const maxReportedLength = 1000;

/**
 * `{kind: 'type', text}` asks the daemon to type the text into the focused field, and `{kind: 'click'}` to click it.
 * @param {Element} element @param {{value: string | number | boolean | string[]}} argument
 */
function fill(element, { value }) {
  const field = fieldOf(element);
  const hindrance = boxkeep.hindranceOf(field);
  if (hindrance) return { kind: 'waiting', ...hindrance, element: boxkeep.describe(field) };
  const outcome = boxkeep.isVisible(field) || isCheckable(field) ? put(field, value) : waitingFor('invisible');
  // Read at once: the next frame of a page with a long text takes seconds.
  const held = outcome.kind === 'done' ? { held: filled(field, { value }) } : {};
  return { ...outcome, ...held, element: boxkeep.describe(field) };
}

function waitingFor(reason) {
  return { kind: 'waiting', reason };
}

function refused(why) {
  return { kind: 'refused', why };
}

/** A label stands for its control. @param {Element} element */
function fieldOf(element) {
  return (element instanceof HTMLLabelElement && element.control) || element;
}

function put(field, value) {
  if (isCheckable(field)) return check(field, value);
  if (field instanceof HTMLSelectElement) return boxkeep.select(field, value);
  if (Array.isArray(value)) return refused('takes one value and not an array');
  if (typeof value === 'boolean') return refused(`takes text and not ${value}`);
  const text = String(value).replaceAll('\r\n', '\n');
  if (field instanceof HTMLTextAreaElement) return typeInto(field, text);
  if (field instanceof HTMLInputElement) return putInput(field, text);
  if (field.isContentEditable) return typeInto(field, text);
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
  const isControl = !field.isContentEditable || field instanceof HTMLTextAreaElement;
  if (isControl && field.readOnly) return refused('is read-only');
  if (isControl && field.maxLength >= 0 && text.length > field.maxLength) {
    return refused(`takes at most ${field.maxLength} characters, and the value has ${text.length}`);
  }
  field.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  const host = isControl ? field : editingHost(field);
  host.focus({ preventScroll: true });
  if (dom.rootOf(host).activeElement !== host) return waitingFor('unfocused');
  if (isControl) field.select();
  else getSelection().selectAllChildren(field);
  if (text === '') {
    dom.execute('delete');
    return { kind: 'done' };
  }
  if (text.length <= maxTypedLength) return { kind: 'type', text };
  if (isControl) setAndNotify(field, text);
  else setEditable(field, text);
  return { kind: 'done' };
}

function editingHost(element) {
  let host = element;
  for (let at = element; at?.isContentEditable; at = boxkeep.parentOf(at)) host = at;
  return host;
}

/** Tells the page before and after, as typing does, so that an editor may take the text itself. */
function setEditable(field, text) {
  const event = { inputType: 'insertText', data: text, bubbles: true, composed: true };
  if (!field.dispatchEvent(new InputEvent('beforeinput', { ...event, cancelable: true }))) return;
  field.textContent = text;
  field.dispatchEvent(new InputEvent('input', event));
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
  const held = textOf(field);
  const matches = isHeld(field, held, String(value).replaceAll('\r\n', '\n'));
  if (field.type === 'password') return { matches };
  return held.length > maxReportedLength ? { length: held.length, matches } : { value: held, matches };
}

function isHeld(field, held, wanted) {
  if (field instanceof HTMLTextAreaElement) return held === wanted;
  if (!(field instanceof HTMLInputElement)) return held.trim() === wanted.trim();
  if (field.type in formats) return wanted.trim() === '' ? held === '' : isEqual(field, wanted.trim());
  const line = wanted.replaceAll('\n', '');
  return held === (field.type === 'email' || field.type === 'url' ? line.trim() : line);
}

function textOf(field) {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value;
  // The rendered text of a long document takes seconds.
  if (field.textContent.length > maxTypedLength) return field.textContent;
  // Editors write spaces that HTML would collapse as no-break spaces.
  return (field.innerText ?? '').replaceAll('\u00a0', ' ').replace(/\n$/, '');
}
