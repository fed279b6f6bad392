/** The names of AT-SPI roles and states, which the protocol sends as numbers. */

/** In the order of the `AtspiRole` enumeration of at-spi2-core. */
const roleNames = [
  'invalid',
  'accelerator label',
  'alert',
  'animation',
  'arrow',
  'calendar',
  'canvas',
  'check box',
  'check menu item',
  'color chooser',
  'column header',
  'combo box',
  'date editor',
  'desktop icon',
  'desktop frame',
  'dial',
  'dialog',
  'directory pane',
  'drawing area',
  'file chooser',
  'filler',
  'focus traversable',
  'font chooser',
  'frame',
  'glass pane',
  'html container',
  'icon',
  'image',
  'internal frame',
  'label',
  'layered pane',
  'list',
  'list item',
  'menu',
  'menu bar',
  'menu item',
  'option pane',
  'page tab',
  'page tab list',
  'panel',
  'password text',
  'popup menu',
  'progress bar',
  'push button',
  'radio button',
  'radio menu item',
  'root pane',
  'row header',
  'scroll bar',
  'scroll pane',
  'separator',
  'slider',
  'spin button',
  'split pane',
  'status bar',
  'table',
  'table cell',
  'table column header',
  'table row header',
  'tearoff menu item',
  'terminal',
  'text',
  'toggle button',
  'tool bar',
  'tool tip',
  'tree',
  'tree table',
  'unknown',
  'viewport',
  'window',
  'extended',
  'header',
  'footer',
  'paragraph',
  'ruler',
  'application',
  'autocomplete',
  'editbar',
  'embedded',
  'entry',
  'chart',
  'caption',
  'document frame',
  'heading',
  'page',
  'section',
  'redundant object',
  'form',
  'link',
  'input method window',
  'table row',
  'tree item',
  'document spreadsheet',
  'document presentation',
  'document text',
  'document web',
  'document email',
  'comment',
  'list box',
  'grouping',
  'image map',
  'notification',
  'info bar',
  'level bar',
  'title bar',
  'block quote',
  'audio',
  'video',
  'definition',
  'article',
  'landmark',
  'log',
  'marquee',
  'math',
  'rating',
  'timer',
  'static',
  'math fraction',
  'math root',
  'subscript',
  'superscript',
  'description list',
  'description term',
  'description value',
  'footnote',
  'content deletion',
  'content insertion',
  'mark',
  'suggestion',
  'push button menu',
] as const;

/** In the order of the `AtspiStateType` enumeration of at-spi2-core. */
const stateNames = [
  'invalid',
  'active',
  'armed',
  'busy',
  'checked',
  'collapsed',
  'defunct',
  'editable',
  'enabled',
  'expandable',
  'expanded',
  'focusable',
  'focused',
  'has_tooltip',
  'horizontal',
  'iconified',
  'modal',
  'multi_line',
  'multiselectable',
  'opaque',
  'pressed',
  'resizable',
  'selectable',
  'selected',
  'sensitive',
  'showing',
  'single_line',
  'stale',
  'transient',
  'vertical',
  'visible',
  'manages_descendants',
  'indeterminate',
  'required',
  'truncated',
  'animated',
  'invalid_entry',
  'supports_autocompletion',
  'selectable_text',
  'is_default',
  'visited',
  'checkable',
  'has_popup',
  'read_only',
] as const;

export type StateName = (typeof stateNames)[number];

/** Two or more numbers of 32 bits, as AT-SPI sends the states of an object. */
export type States = readonly number[];

const stateNumbers: ReadonlyMap<string, number> = new Map(stateNames.map((name, number) => [name, number]));

/** A role that is newer than the list is reported as `extended`. */
export function roleName(role: number): string {
  return roleNames[role] ?? 'extended';
}

export function hasState(states: States, name: StateName): boolean {
  return hasBit(states, stateNumbers.get(name) ?? 0);
}

export function stateNamesOf(states: States): StateName[] {
  return stateNames.filter((_name, number) => hasBit(states, number));
}

export function isStateName(name: string): name is StateName {
  return stateNumbers.has(name);
}

export function isRoleName(name: string): boolean {
  return (roleNames as readonly string[]).includes(name);
}

/** Lower case, with the separators that the names use; `button` is the newer name of `push button`. */
export function normalRole(name: string): string {
  const normal = name.trim().toLowerCase().replaceAll(/[_-]/g, ' ');
  return normal === 'button' ? 'push button' : normal;
}

export function normalState(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[ -]/g, '_');
}

export const allStateNames: readonly string[] = stateNames;

function hasBit(states: States, number: number): boolean {
  return (((states[number >> 5] ?? 0) >>> (number & 31)) & 1) === 1;
}
