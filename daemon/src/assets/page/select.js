/** Chooses options of a select element by value or label. */
const boxkeep = globalThis.boxkeep;

boxkeep.select = select;
boxkeep.selected = selected;
boxkeep.choose = choose;

/** More options than these are reported by their number. */
const maxNamed = 20;

/** @param {HTMLSelectElement} field @param {string | number | boolean | string[]} value */
function select(field, value) {
  const wanted = wantedOf(value);
  if (!field.multiple && wanted.length !== 1) return { kind: 'refused', why: 'takes one option and not an array' };
  const options = wanted.map((name) => optionOf(field, name));
  const missing = options.indexOf(null);
  if (missing !== -1)
    return { kind: 'refused', why: `has no option ${JSON.stringify(wanted[missing])}: ${names(field)}` };
  const disabled = options.find((option) => option.matches(':disabled'));
  if (disabled) return { kind: 'refused', why: `has the option ${JSON.stringify(labelOf(disabled))} disabled` };
  field.focus();
  mark(field, (option) => options.includes(option));
  return { kind: 'done' };
}

/** Chooses one option, which the pointer cannot reach in a closed list. @param {HTMLOptionElement} option */
function choose(option) {
  const field = option.closest('select');
  if (field === null) return { kind: 'waiting', reason: 'invisible' };
  if (option.matches(':disabled') || field.matches(':disabled')) return { kind: 'waiting', reason: 'disabled' };
  field.focus();
  mark(field, (other) => (other === option ? !field.multiple || !option.selected : field.multiple && other.selected));
  return { kind: 'chosen' };
}

function mark(field, isWanted) {
  const options = [...field.options];
  const wanted = options.map(isWanted);
  if (options.every((option, index) => option.selected === wanted[index])) return;
  // A select of one option moves its selection with the option that becomes selected, so the others need no change.
  if (field.multiple) for (const [index, option] of options.entries()) option.selected = wanted[index];
  else options[wanted.indexOf(true)].selected = true;
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

function wantedOf(value) {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function optionOf(field, name) {
  const options = [...field.options];
  return (
    options.find(({ value }) => value === name) ?? options.find((option) => labelOf(option) === name.trim()) ?? null
  );
}

function labelOf(option) {
  return option.label.trim().replaceAll(/\s+/g, ' ');
}

function names(field) {
  const options = [...field.options].map((option) => JSON.stringify(labelOf(option)));
  if (options.length === 0) return 'it has no options';
  const rest = options.length > maxNamed ? ` and ${options.length - maxNamed} more` : '';
  return `its options are ${options.slice(0, maxNamed).join(', ')}${rest}`;
}

/** @param {HTMLSelectElement} field @param {string | number | boolean | string[]} value */
function selected(field, value) {
  const wanted = wantedOf(value).map((name) => optionOf(field, name));
  const options = [...field.selectedOptions];
  const matches = options.length === new Set(wanted).size && options.every((option) => wanted.includes(option));
  const values = options.map((option) => option.value);
  return { value: field.multiple ? values : (values[0] ?? ''), matches };
}
