/** Computes the name of an element from labels, attributes and text, as far as its content does not give it. */
const boxkeep = (globalThis.boxkeep ??= {});
const { dom, shadowRootOf } = boxkeep;
boxkeep.nameOf = nameOf;
boxkeep.fallbackName = fallbackName;
boxkeep.generatedText = generatedText;
boxkeep.tidy = tidy;

const maxNameLength = 1000;
const skippedTags = new Set(['script', 'style', 'template', 'noscript']);
/** The name that wins over the content of the element, or the empty string. @param {Element} element */
function nameOf(element) {
  if (dom.hasAttributes(element)) {
    const name = referencedName(element) || tidy(dom.attribute(element, 'aria-label') ?? '');
    if (name !== '') return name;
  }
  return nativeName(element);
}

/** The name that counts where neither labels nor content give one. @param {Element} element */
function fallbackName(element) {
  const title = dom.attribute(element, 'title') ?? dom.attribute(element, 'xlink:title');
  return tidy(title || (dom.attribute(element, 'placeholder') ?? dom.attribute(element, 'aria-placeholder') ?? ''));
}

/** Collapses blanks, and shortens what is too long for a name. @param {string} text */
function tidy(text) {
  const name = text.length > 10 * maxNameLength ? text.slice(0, 10 * maxNameLength) : text;
  const short = name.replace(/[\s\u200b\u2060\ufeff]+/g, ' ').trim();
  return short.length > maxNameLength ? `${short.slice(0, maxNameLength)}…` : short;
}

function referencedName(element) {
  const ids = dom.attribute(element, 'aria-labelledby');
  if (ids === null) return '';
  const root = dom.rootOf(element);
  const parts = ids.split(/\s+/).map((id) => {
    const target = id === '' ? null : root.getElementById?.(id);
    if (!target) return '';
    return namingText(target, element);
  });
  return tidy(parts.join(' '));
}

/** What an element says that names another one. */
function namingText(element, named) {
  return tidy(dom.attribute(element, 'aria-label') ?? '') || textOf(element, named, true);
}

function nativeName(element) {
  switch (dom.localName(element)) {
    case 'input':
      return inputName(element);
    case 'select':
    case 'textarea':
    case 'meter':
    case 'progress':
    case 'output':
      return labelsText(element);
    case 'button':
      return labelsText(element);
    case 'img':
    case 'area':
      return tidy(dom.attribute(element, 'alt') ?? '');
    case 'optgroup':
    case 'track':
      return tidy(dom.attribute(element, 'label') ?? '');
    case 'option':
      return tidy(element.label);
    case 'iframe':
    case 'frame':
      return tidy(dom.attribute(element, 'title') || (dom.attribute(element, 'name') ?? ''));
    case 'fieldset':
      return childText(element, 'legend');
    case 'table':
      return childText(element, 'caption');
    case 'figure':
      return childText(element, 'figcaption');
    case 'svg':
      return childText(element, 'title');
    default:
      return '';
  }
}

function inputName(input) {
  const label = labelsText(input);
  if (label !== '') return label;
  switch (input.type) {
    case 'button':
    case 'submit':
    case 'reset':
      return tidy(input.value || (input.type === 'button' ? '' : input.type === 'reset' ? 'Reset' : 'Submit'));
    case 'image':
      return tidy(input.getAttribute('alt') || (input.getAttribute('title') ?? 'Submit'));
    case 'file':
      return fallbackName(input) || (input.multiple ? 'Choose Files' : 'Choose File');
    default:
      return '';
  }
}

function labelsText(control) {
  // A list of labels is made anew for each control, and most buttons have none.
  if (control.id === '' && control.closest('label') === null) return '';
  const labels = control.labels;
  if (!labels || labels.length === 0) return '';
  return tidy(Array.from(labels, (label) => namingText(label, control)).join(' '));
}

function childText(element, tag) {
  for (let child = element.firstElementChild; child !== null; child = dom.nextElement(child))
    if (dom.localName(child) === tag) return textOf(child, element, true);
  return '';
}

/** The text of an element as a label says it, without the labelled control itself. */
function textOf(element, labelled, isReferenced = false) {
  const parts = [];
  collectText(element, labelled, parts, isReferenced);
  return tidy(parts.join(''));
}

function collectText(element, labelled, parts, isReferenced) {
  if (skippedTags.has(dom.localName(element)) || parts.length > 2000) return;
  // A label may be hidden itself and still name its control; a hidden part of a label does not.
  const { display, visibility } = getComputedStyle(element);
  const isHidden = display === 'none' || visibility !== 'visible' || dom.attribute(element, 'aria-hidden') === 'true';
  if (isHidden && !isReferenced) return;
  const given = isReferenced ? '' : tidy(dom.attribute(element, 'aria-label') ?? '') || embeddedText(element, labelled);
  if (given === null) return;
  const isInline = display === 'inline' || display === 'contents';
  if (!isInline) parts.push(' ');
  if (given !== '') parts.push(given);
  else for (const node of contentOf(element)) collectNode(node, labelled, parts);
  if (!isInline) parts.push(' ');
}

function contentOf(element) {
  const assigned = dom.localName(element) === 'slot' ? element.assignedNodes() : [];
  return assigned.length > 0 ? assigned : dom.childNodes(shadowRootOf(element) ?? element);
}

function collectNode(node, labelled, parts) {
  const type = dom.nodeType(node);
  if (type === Node.TEXT_NODE) parts.push(node.data);
  else if (type === Node.ELEMENT_NODE) collectText(node, labelled, parts, false);
}

/** The text that stands for a control or an image within a label; null for none at all. */
function embeddedText(element, labelled) {
  switch (dom.localName(element)) {
    case 'img':
      return tidy(dom.attribute(element, 'alt') ?? '');
    case 'input':
    case 'select':
    case 'textarea':
      if (element === labelled || element.type === 'checkbox' || element.type === 'radio') return null;
      return boxkeep.valueOf(element, boxkeep.roleOf(element)) || null;
    default:
      return '';
  }
}

/** Text that style sheets put before and after an element; characters of icon fonts are left out. */
function generatedText(element) {
  const parts = ['::before', '::after'].map((pseudo) => {
    const content = getComputedStyle(element, pseudo).content;
    const text = /^"((?:[^"\\]|\\.)*)"$/.exec(content)?.[1] ?? '';
    return text.replace(/\\(.)/g, '$1').replace(/[\ue000-\uf8ff]|[\u{f0000}-\u{10fffd}]/gu, '');
  });
  return tidy(parts.join(' '));
}
