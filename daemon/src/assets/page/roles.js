/** Decides the role of an element: an explicit ARIA role, or the implicit role of its HTML tag. */
const boxkeep = (globalThis.boxkeep ??= {});
const { dom } = boxkeep;
boxkeep.roleOf = roleOf;
boxkeep.isFrame = isFrame;

const words = (text) => new Set(text.split(' '));

const validRoles = words(
  'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
    'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid ' +
    'gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar ' +
    'menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar ' +
    'radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status ' +
    'strong subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree ' +
    'treegrid treeitem',
);

// Roles that only wrap or style text. Their content stands in their place.
const collapsedRoles = words(
  'generic none presentation paragraph strong emphasis code deletion insertion mark subscript superscript time ' +
    'rowgroup caption separator directory',
);

/** Roles that a user acts on. */
boxkeep.interactiveRoles = words(
  'button link textbox searchbox checkbox radio switch combobox listbox option slider spinbutton tab menuitem ' +
    'menuitemcheckbox menuitemradio treeitem scrollbar',
);

/** Roles whose content is their name where it is only text. */
boxkeep.contentRoles = words(
  'button link checkbox radio switch option tab menuitem menuitemcheckbox menuitemradio treeitem heading cell ' +
    'gridcell columnheader rowheader listitem term definition tooltip generic alert status note caption ' +
    'blockquote math',
);

/** Roles that say nothing without a name. */
boxkeep.namedRoles = words('form region group figure');

const tagRoles = new Map(
  Object.entries({
    article: 'article',
    aside: 'complementary',
    audio: 'audio',
    blockquote: 'blockquote',
    button: 'button',
    canvas: 'canvas',
    dd: 'definition',
    details: 'group',
    dialog: 'dialog',
    dt: 'term',
    fieldset: 'group',
    figure: 'figure',
    form: 'form',
    h1: 'heading',
    h2: 'heading',
    h3: 'heading',
    h4: 'heading',
    h5: 'heading',
    h6: 'heading',
    li: 'listitem',
    main: 'main',
    math: 'math',
    menu: 'list',
    meter: 'meter',
    nav: 'navigation',
    ol: 'list',
    optgroup: 'group',
    option: 'option',
    output: 'status',
    progress: 'progressbar',
    search: 'search',
    section: 'region',
    table: 'table',
    textarea: 'textbox',
    tr: 'row',
    ul: 'list',
    video: 'video',
  }),
);

const inputRoles = new Map(
  Object.entries({
    button: 'button',
    checkbox: 'checkbox',
    file: 'button',
    hidden: '',
    image: 'button',
    number: 'spinbutton',
    radio: 'radio',
    range: 'slider',
    reset: 'button',
    submit: 'button',
  }),
);

const linkRole = (element) => (element.hasAttribute('href') ? 'link' : '');
const landmarkRole = (role) => (element) =>
  element.closest('article, aside, main, nav, section, [role=article], [role=main], [role=region]') ? '' : role;

/** Tags whose role depends on attributes or on where they stand. */
const computedRoles = new Map(
  Object.entries({
    a: linkRole,
    area: linkRole,
    footer: landmarkRole('contentinfo'),
    header: landmarkRole('banner'),
    iframe: () => 'iframe',
    frame: () => 'iframe',
    object: (element) => (isFrame(element) ? 'iframe' : ''),
    img: (element) => (isDecorative(element) ? '' : 'img'),
    input: inputRole,
    select: (element) => (element.multiple || element.size > 1 ? 'listbox' : 'combobox'),
    summary: (element) => (element.parentNode?.localName === 'details' ? 'button' : ''),
    svg: (element) => (element.hasAttribute('aria-label') || element.querySelector(':scope > title') ? 'img' : ''),
    td: (element) => (isInGrid(element) ? 'gridcell' : 'cell'),
    th: headerRole,
  }),
);

/** The role of an element; the empty string where only its content matters. @param {Element} element */
function roleOf(element) {
  if (dom.hasAttributes(element)) {
    const explicit = dom.attribute(element, 'role');
    if (explicit !== null) {
      const role = explicitRole(element, explicit);
      if (role !== null) return role;
    }
    if (isEditingHost(element)) return 'textbox';
  }
  const tag = dom.localName(element);
  const role = tagRoles.get(tag);
  if (role !== undefined) return role;
  return computedRoles.get(tag)?.(element) ?? '';
}

/** The first known role of the attribute; null where the tag decides. */
function explicitRole(element, attribute) {
  if (isFrame(element)) return 'iframe';
  for (const word of attribute.toLowerCase().split(/\s+/)) {
    if (!validRoles.has(word)) continue;
    // What the keyboard reaches is never only presentation.
    if (
      (word === 'none' || word === 'presentation') &&
      (dom.property(element, 'tabIndex') >= 0 || dom.hasAttribute(element, 'aria-label'))
    )
      return null;
    if (word === 'separator' && dom.hasAttribute(element, 'aria-valuenow')) return word;
    if (word === 'image') return 'img';
    return collapsedRoles.has(word) ? '' : word;
  }
  return null;
}

function isFrame(element) {
  const tag = dom.localName(element);
  return tag === 'iframe' || tag === 'frame' || (tag === 'object' && Boolean(element.contentWindow));
}

function isEditingHost(element) {
  const editable = dom.attribute(element, 'contenteditable');
  return editable !== null && editable !== 'false' && !dom.property(dom.parentElement(element), 'isContentEditable');
}

function isDecorative(image) {
  return (
    image.getAttribute('alt') === '' &&
    !image.hasAttribute('title') &&
    !image.hasAttribute('aria-label') &&
    !image.hasAttribute('tabindex')
  );
}

function inputRole(input) {
  const role = inputRoles.get(input.type);
  if (role === 'checkbox' && input.hasAttribute('switch')) return 'switch';
  if (role !== undefined) return role;
  if (input.hasAttribute('list')) return 'combobox';
  return input.type === 'search' ? 'searchbox' : 'textbox';
}

function isInGrid(cell) {
  const role = cell.closest('table')?.getAttribute('role');
  return role === 'grid' || role === 'treegrid';
}

function headerRole(header) {
  const scope = header.getAttribute('scope');
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope !== null) return 'columnheader';
  return header.cellIndex === 0 && header.matches('td ~ th, :has(~ td)') ? 'rowheader' : 'columnheader';
}
