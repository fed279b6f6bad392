/** Acts on one accessible object: focuses it, invokes one of its actions, or sets its value. */
import { Deadline } from '../../../kit/deadline.ts';
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Variant } from '../../../platform/dbus/marshal.ts';
import { pause } from '../input/pause.ts';
import type { Calls } from './calls.ts';
import { actionsOf } from './describe.ts';
import { isGone } from './failures.ts';
import { foregroundWindows, type ActiveWindow } from './foreground.ts';
import { doAction, getProperties, grabFocus, interfaces, setProperty, setText } from './methods.ts';
import { goneNode } from './node-id.ts';
import type { AccessibleObject, ObjectReader } from './reader.ts';
import { hasState } from './states.ts';

/** Makes a value that carries its signature. */
export type MakeVariant = (signature: string, value: boolean | number) => Variant;

/** An application reports the focus some time after it has taken it. */
const focusedWithinMs = 2000;
const focusPollMs = 20;

/** Throws `ref_stale` for an object that has gone. */
export async function focusNode(reader: ObjectReader, id: string): Promise<void> {
  const node = await reader.node(id);
  if (node.interfaces.includes(interfaces.component)) {
    const [isFocused] = await whileThere(id, reader.calls.call(node, grabFocus));
    if (isFocused) return;
  }
  throw refused(node, 'does not take the focus', 'Click it, or focus an element around it.');
}

/** Without a name, invokes the first action. Returns the name of the invoked one. */
export async function invokeNode(reader: ObjectReader, id: string, action: string | null): Promise<string> {
  const node = await reader.node(id);
  const names = (await actionsOf(reader.calls, node)) ?? [];
  const index = action === null ? 0 : names.findIndex((name) => name.toLowerCase() === action.toLowerCase());
  const name = names[index];
  if (name === undefined) {
    const what = names.length === 0 ? 'has no actions' : `has no action ${JSON.stringify(action)}`;
    const hint = names.length === 0 ? 'Click it at its bounds.' : `Use one of: ${names.join(', ')}.`;
    throw refused(node, what, hint);
  }
  const [isDone] = await whileThere(id, reader.calls.call(node, doAction, index));
  if (!isDone) throw refused(node, `refuses the action ${name}`, 'It may be insensitive now. Click it at its bounds.');
  return name;
}

/**
 * Sets a number where the object has a range, and its text otherwise. False for a text field that takes its text from
 * the keyboard only, as those of Chromium.
 */
export async function setNodeValue(
  reader: ObjectReader,
  id: string,
  value: string,
  variant: MakeVariant,
): Promise<boolean> {
  const node = await reader.node(id);
  const number = value.trim() === '' ? NaN : Number(value);
  if (node.interfaces.includes(interfaces.value) && Number.isFinite(number)) {
    await setNumber(reader.calls, id, node, { number, variant });
    return true;
  }
  if (node.interfaces.includes(interfaces.editableText)) {
    const [isSet] = await whileThere(id, reader.calls.call(node, setText, value));
    if (isSet) return true;
  }
  // Typed into a field, a line end may send a form, and a tabulator leaves the field.
  if (isTextField(node) && !/[\t\r\n]/.test(value)) return false;
  const hasRange = node.interfaces.includes(interfaces.value);
  const what = hasRange
    ? `takes a number, not ${JSON.stringify(value.slice(0, 100))}`
    : 'takes no value through AT-SPI';
  throw refused(node, what, hasRange ? 'Pass a number.' : 'Focus the node, select its text, and type.');
}

/** Gives the keyboard to a text field. Throws `bad_argument` when the field is not in the active window. */
export async function focusForTyping(reader: ObjectReader, id: string, active: ActiveWindow | null): Promise<void> {
  const { signal } = reader.calls;
  const node = await reader.node(id);
  if (!(await isInForeground(reader, node, active))) throw notActive(node);
  await focusNode(reader, id);
  using deadline = new Deadline(focusedWithinMs, signal);
  try {
    while (!hasState((await reader.node(id)).states, 'focused')) await pause(focusPollMs, { signal: deadline.signal });
  } catch (error) {
    throw deadline.passed && !signal.aborted ? notActive(node) : error;
  }
}

async function isInForeground(reader: ObjectReader, node: AccessibleObject, active: ActiveWindow | null) {
  // The active window may belong to a program that has not registered.
  const windows = await nullOn(CoreError, foregroundWindows(reader, active));
  return windows?.[0]?.bus === node.bus;
}

function isTextField({ interfaces: has, states }: AccessibleObject): boolean {
  return has.includes(interfaces.text) && has.includes(interfaces.component) && hasState(states, 'editable');
}

function notActive(node: AccessibleObject): CoreError {
  return refused(
    node,
    'takes its text from the keyboard, which another window has',
    'Activate the window of the node first.',
  );
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

async function whileThere<T>(id: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw isGone(error) ? goneNode(id) : error;
  }
}

function refused({ role, name }: AccessibleObject, what: string, hint: string): CoreError {
  return new CoreError('bad_argument', `${role} ${JSON.stringify(name.slice(0, 100))} ${what}`, { hint });
}
