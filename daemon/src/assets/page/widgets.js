/** Reads and sets widgets that are made of other elements: sliders of ARIA, and groups of radio buttons such as ratings. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.isStepped = isStepped;
boxkeep.step = step;
boxkeep.stepped = stepped;
boxkeep.position = position;
boxkeep.isRadioGroup = isRadioGroup;
boxkeep.chooseRadio = chooseRadio;
boxkeep.chosenRadio = chosenRadio;

const radios = 'input[type=radio], [role=radio]';
/** More radio buttons than these are not named. */
const maxNamed = 20;

/** Whether only keys and the pointer change the value of the element. @param {Element} element */
function isStepped(element) {
  const role = dom.attribute(element, 'role');
  return (role === 'slider' || role === 'spinbutton') && !(element instanceof HTMLInputElement);
}

/** Asks the daemon to press arrow keys until the element has the value. */
function step(element, value) {
  const wanted = typeof value === 'boolean' || String(value).trim() === '' ? NaN : Number(value);
  const [min, max] = [numberIn(element, 'aria-valuemin'), numberIn(element, 'aria-valuemax')];
  if (Number.isNaN(wanted) || wanted < min || wanted > max) {
    const range = Number.isNaN(min) || Number.isNaN(max) ? '' : ` from ${min} to ${max}`;
    return { kind: 'refused', why: `takes a number such as 50${range}` };
  }
  return numberIn(element, 'aria-valuenow') === wanted ? { kind: 'done' } : { kind: 'step', wanted };
}

function numberIn(element, name) {
  const value = dom.attribute(element, name);
  return value === null || value.trim() === '' ? NaN : Number(value);
}

/** The value once the page has handled the keys; null for none. */
async function position(element) {
  await boxkeep.nextFrame();
  await boxkeep.nextFrame();
  const now = numberIn(element, 'aria-valuenow');
  return { now: Number.isNaN(now) ? null : now };
}

function stepped(element, value) {
  const held = dom.attribute(element, 'aria-valuenow') ?? '';
  return { value: held, matches: held !== '' && Math.abs(Number(held) - Number(value)) < 1e-9 };
}

/** Whether the element holds radio buttons and no other field. @param {Element} element */
function isRadioGroup(element) {
  const fields = [
    ...dom.queryAll(element, 'input:not([type=hidden]), select, textarea, [contenteditable], [role=radio]'),
  ];
  return (
    fields.length > 0 &&
    !dom.property(element, 'isContentEditable') &&
    fields.every((field) => dom.matches(field, radios))
  );
}

function chooseRadio(group, value) {
  const radio = radioOf(group, value);
  if (radio === null) {
    const names = [...dom.queryAll(group, radios)].slice(0, maxNamed).map((other) => JSON.stringify(labelOf(other)));
    return {
      kind: 'refused',
      why: `has no option ${JSON.stringify(String(value))}: its options are ${names.join(', ')}`,
    };
  }
  const hindrance = boxkeep.hindranceOf(radio);
  if (hindrance) return { kind: 'waiting', ...hindrance };
  return boxkeep.isChecked(radio) ? { kind: 'done' } : { kind: 'click', number: boxkeep.numberOf(radio) };
}

/** By value, by label, by the number in a label such as "4 stars", and by place. */
function radioOf(group, value) {
  const all = [...dom.queryAll(group, radios)];
  const wanted = String(value).trim();
  const numberOf = (text) => /\d+(?:\.\d+)?/.exec(text)?.[0];
  const tests = [
    (radio) => radio instanceof HTMLInputElement && radio.value === wanted,
    (radio) => labelOf(radio).toLowerCase() === wanted.toLowerCase(),
    (radio) => numberOf(labelOf(radio)) === wanted,
    (radio) => dom.attribute(radio, 'aria-posinset') === wanted,
    (radio) => String(all.indexOf(radio) + 1) === wanted,
  ];
  for (const test of tests) {
    const found = all.find(test);
    if (found) return found;
  }
  return null;
}

function labelOf(radio) {
  const label =
    dom.attribute(radio, 'aria-label') ??
    [...(dom.property(radio, 'labels') ?? [radio])].map(dom.textContent).join(' ');
  return label.trim().replaceAll(/\s+/g, ' ');
}

function chosenRadio(group, value) {
  const chosen = [...dom.queryAll(group, radios)].find((radio) => boxkeep.isChecked(radio)) ?? null;
  if (chosen === null) return { value: '', matches: false };
  const held = labelOf(chosen) || chosen.value || '';
  return { value: held, matches: chosen === radioOf(group, value) };
}
