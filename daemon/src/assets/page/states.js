/** Reads the value of an element and its states, native and ARIA. */
const boxkeep = (globalThis.boxkeep ??= {});
const { dom, editedText } = boxkeep;
boxkeep.valueOf = valueOf;
boxkeep.statesOf = statesOf;

const maxValueLength = 10_000;
const rangeRoles = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar', 'separator']);
const fieldRoles = new Set(['textbox', 'searchbox', 'combobox']);

/** @param {Element} element @param {string} role @returns {string | null} */
function valueOf(element, role) {
  if (rangeRoles.has(role)) return rangeValue(element);
  if (fieldRoles.has(role)) return cut(fieldValue(element));
  if (dom.localName(element) === 'input' && element.type === 'file')
    return Array.from(element.files ?? [], ({ name }) => name).join(', ');
  return null;
}

function rangeValue(element) {
  const text = dom.attribute(element, 'aria-valuetext') ?? dom.attribute(element, 'aria-valuenow');
  const value = text ?? dom.property(element, 'value');
  return value === undefined ? null : String(value);
}

function fieldValue(element) {
  switch (dom.localName(element)) {
    case 'input':
      // A password is as secret in a snapshot as on the screen.
      return element.type === 'password' ? '•'.repeat(element.value.length) : element.value;
    case 'textarea':
      return element.value;
    case 'select':
      return Array.from(element.selectedOptions, (option) => option.label).join(', ');
    default:
      return editedText(element, { maxLength: maxValueLength }).trim();
  }
}

function cut(text) {
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}

/** @param {Element} element @param {string} role @returns {string[]} */
function statesOf(element, role) {
  const states = [];
  if (role === 'heading') addLevel(element, states);
  const tag = dom.localName(element);
  if (tag === 'input' || tag === 'select' || tag === 'textarea' || tag === 'button') addControl(element, tag, states);
  else if (tag === 'option') addOption(element, states);
  else if (tag === 'summary' && role === 'button')
    states.push(element.matches('[open] > *') ? 'expanded' : 'collapsed');
  else if (tag === 'dialog' && element.matches(':modal')) states.push('modal');
  else if (tag === 'video' || tag === 'audio') states.push(element.paused ? 'paused' : 'playing');
  if (dom.hasAttributes(element)) addAria(element, states);
  return states;
}

function addLevel(element, states) {
  // Only a number: a page could imitate other states with a free text.
  const [own] = /^\d{1,3}$/.exec(dom.attribute(element, 'aria-level')?.trim() ?? '') ?? [];
  states.push(`level=${own ?? /^h([1-6])$/.exec(dom.localName(element))?.[1] ?? '2'}`);
}

function addControl(element, tag, states) {
  // A control may be disabled by its fieldset.
  if (element.matches(':disabled')) states.push('disabled');
  if (tag === 'button') return;
  if (element.type === 'checkbox' || element.type === 'radio') {
    if (element.indeterminate && element.type === 'checkbox') states.push('mixed');
    else if (element.checked) states.push('checked');
  }
  if (element.required) states.push('required');
  if (element.readOnly) states.push('readonly');
  if (tag === 'textarea') states.push('multiline');
  if (element.multiple && tag === 'select') states.push('multiselectable');
  if (element.matches(':user-invalid')) states.push('invalid');
}

function addOption(option, states) {
  if (option.matches(':disabled')) states.push('disabled');
  if (option.selected) states.push('selected');
}

function addAria(element, states) {
  for (const name of dom.attributeNames(element)) {
    if (!name.startsWith('aria-')) {
      if (name === 'contenteditable' && !states.includes('multiline')) states.push('multiline');
      continue;
    }
    const state = ariaState(name, dom.attribute(element, name));
    if (state !== null && !states.includes(state)) states.push(state);
  }
}

function ariaState(attribute, value) {
  switch (attribute) {
    case 'aria-expanded':
      return value === 'true' ? 'expanded' : value === 'false' ? 'collapsed' : null;
    case 'aria-checked':
    case 'aria-pressed':
      return value === 'mixed' ? 'mixed' : value === 'true' ? attribute.slice(5) : null;
    case 'aria-invalid':
    case 'aria-current':
    case 'aria-haspopup':
      return value === 'false' || value === '' ? null : attribute.slice(5);
    case 'aria-disabled':
    case 'aria-selected':
    case 'aria-required':
    case 'aria-readonly':
    case 'aria-multiline':
    case 'aria-multiselectable':
    case 'aria-modal':
    case 'aria-busy':
      return value === 'true' ? attribute.slice(5) : null;
    default:
      return null;
  }
}
