/** Acts on one accessible object: focuses it, invokes one of its actions, or sets its value. */
import { CoreError } from '../../../kit/errors.ts';
import type { Variant } from '../../../platform/dbus/marshal.ts';
import type { Calls } from './calls.ts';
import { actionsOf } from './describe.ts';
import { isGone } from './failures.ts';
import { doAction, getProperties, grabFocus, interfaces, setProperty, setText } from './methods.ts';
import { hasState, roleName } from './names.ts';
import { goneNode, objectOf } from './node-id.ts';
import { ObjectReader, type AccessibleObject } from './reader.ts';

/** Makes a value that carries its signature. */
export type MakeVariant = (signature: string, value: boolean | number) => Variant;

/** Throws `ref_stale` for an object that has gone. */
export async function focusNode(calls: Calls, id: string): Promise<void> {
  const node = await find(calls, id);
  if (node.interfaces.includes(interfaces.component)) {
    const [isFocused] = await whileThere(id, calls.call(node, grabFocus));
    if (isFocused) return;
  }
  throw refused(node, 'does not take the focus', 'Click it, or focus an element around it.');
}

/** Without a name, invokes the first action. Returns the name of the invoked one. */
export async function invokeNode(calls: Calls, id: string, action: string | null): Promise<string> {
  const node = await find(calls, id);
  const names = (await actionsOf(calls, node)) ?? [];
  const index = action === null ? 0 : names.findIndex((name) => name.toLowerCase() === action.toLowerCase());
  const name = names[index];
  if (name === undefined) {
    const what = names.length === 0 ? 'has no actions' : `has no action ${JSON.stringify(action)}`;
    const hint = names.length === 0 ? 'Click it at its bounds.' : `Use one of: ${names.join(', ')}.`;
    throw refused(node, what, hint);
  }
  const [isDone] = await whileThere(id, calls.call(node, doAction, index));
  if (!isDone) throw refused(node, `refuses the action ${name}`, 'It may be insensitive now. Click it at its bounds.');
  return name;
}

/** Sets a number where the object has a range, and its text otherwise. */
export async function setNodeValue(calls: Calls, id: string, value: string, variant: MakeVariant): Promise<void> {
  const node = await find(calls, id);
  const number = value.trim() === '' ? NaN : Number(value);
  if (node.interfaces.includes(interfaces.value) && Number.isFinite(number)) {
    return await setNumber(calls, id, node, { number, variant });
  }
  if (node.interfaces.includes(interfaces.editableText)) {
    const [isSet] = await whileThere(id, calls.call(node, setText, value));
    if (isSet) return;
  }
  const hasRange = node.interfaces.includes(interfaces.value);
  const what = hasRange
    ? `takes a number, not ${JSON.stringify(value.slice(0, 100))}`
    : 'takes no value through AT-SPI';
  throw refused(node, what, hasRange ? 'Pass a number.' : 'Focus the node, select its text, and type.');
}

async function setNumber(
  calls: Calls,
  id: string,
  node: AccessibleObject,
  { number, variant }: { readonly number: number; readonly variant: MakeVariant },
): Promise<void> {
  const [properties] = await whileThere(id, calls.call(node, getProperties, interfaces.value));
  const limit = (name: string) => Number(properties.find(([key]) => key === name)?.[1]);
  const minimum = limit('MinimumValue');
  const maximum = limit('MaximumValue');
  if (minimum < maximum && (number < minimum || number > maximum)) {
    throw refused(node, `takes ${minimum} to ${maximum}, not ${number}`, 'Pass a number in this range.');
  }
  await whileThere(id, calls.call(node, setProperty, interfaces.value, 'CurrentValue', variant('d', number)));
}

async function find(calls: Calls, id: string): Promise<AccessibleObject> {
  const object = await new ObjectReader(calls).readAlone(objectOf(id, calls.guid));
  if (object === null || hasState(object.states, 'defunct')) throw goneNode(id);
  return object;
}

async function whileThere<T>(id: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw isGone(error) ? goneNode(id) : error;
  }
}

function refused({ role, name }: AccessibleObject, what: string, hint: string): CoreError {
  return new CoreError('bad_argument', `${roleName(role)} ${JSON.stringify(name.slice(0, 100))} ${what}`, { hint });
}
