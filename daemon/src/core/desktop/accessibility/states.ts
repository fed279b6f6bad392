/** The names of AT-SPI states, which the protocol sends as bits. */

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

export function hasState(states: States, name: StateName): boolean {
  return hasBit(states, stateNumbers.get(name) ?? 0);
}

export function stateNamesOf(states: States): StateName[] {
  return stateNames.filter((_name, number) => hasBit(states, number));
}

export function isStateName(name: string): name is StateName {
  return stateNumbers.has(name);
}

export function normalState(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[ -]/g, '_');
}

export const allStateNames: readonly string[] = stateNames;

function hasBit(states: States, number: number): boolean {
  return (((states[number >> 5] ?? 0) >>> (number & 31)) & 1) === 1;
}
