/** Completes collected objects for a client: id, place on the screen, value and actions. */
import type { Area } from '../actions/action.ts';
import type { Calls } from './calls.ts';
import {
  getActionName,
  getActions,
  getExtents,
  getProperty,
  getText,
  interfaces,
  screenCoordinates,
} from './methods.ts';
import { nodeIdOf } from './node-id.ts';
import type { AccessibleNode } from './query.ts';
import type { AccessibleObject } from './reader.ts';
import { hasState, stateNamesOf } from './states.ts';

/** Longer texts are cut: a tree may contain whole documents. */
const maxTextCharacters = 1000;
/** The text of these is what the user has typed or sees, and not their name. */
const textRoles = new Set(['entry', 'text', 'terminal', 'spin button', 'combo box', 'editbar', 'date editor']);

/** Stands for an answer that the application has not given in time. */
const late = Symbol('late');

export interface Described {
  readonly node: AccessibleNode;
  /** False when the time was over before the application has answered. */
  readonly isComplete: boolean;
}

export async function describe(calls: Calls, object: AccessibleObject): Promise<Described> {
  const [bounds, value, actions] = await Promise.all([
    calls.inTime(boundsOf(calls, object), late),
    calls.inTime(valueOf(calls, object), late),
    calls.inTime(actionsOf(calls, object), late),
  ]);
  const { role, name, description, states } = object;
  const node = {
    ...{ id: nodeIdOf(object, calls.guid), role, name: cut(name) },
    ...{ description: cut(description), states: stateNamesOf(states) },
    ...{ value: onTime(value), actions: onTime(actions) ?? [], bounds: onTime(bounds) },
  };
  return { node, isComplete: value !== late && actions !== late && bounds !== late };
}

export async function actionsOf(calls: Calls, object: AccessibleObject): Promise<string[] | null> {
  if (!object.interfaces.includes(interfaces.action)) return [];
  const answer = await calls.ask(object, getActions);
  if (!answer) return null;
  const names = answer[0].map(async ([name], index) => name || (await calls.ask(object, getActionName, index))?.[0]);
  return (await Promise.all(names)).map((name) => name ?? '');
}

async function boundsOf(calls: Calls, object: AccessibleObject): Promise<Area | null> {
  if (!hasState(object.states, 'showing') || !object.interfaces.includes(interfaces.component)) return null;
  const answer = await calls.ask(object, getExtents, screenCoordinates);
  if (!answer) return null;
  const [x, y, width, height] = answer[0];
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

async function valueOf(calls: Calls, object: AccessibleObject): Promise<string | null> {
  if (object.interfaces.includes(interfaces.value)) {
    const answer = await calls.ask(object, getProperty, interfaces.value, 'CurrentValue');
    return typeof answer?.[0] === 'number' ? String(answer[0]) : null;
  }
  if (!object.interfaces.includes(interfaces.text) || !hasReadableText(object)) return null;
  const answer = await calls.ask(object, getText, 0, maxTextCharacters);
  return answer ? answer[0] : null;
}

/** Never true for a password. */
function hasReadableText({ role, states }: AccessibleObject): boolean {
  return role !== 'password text' && (hasState(states, 'editable') || textRoles.has(role));
}

function onTime<T>(answer: T | typeof late): T | null {
  return answer === late ? null : answer;
}

function cut(text: string): string {
  return text.length <= maxTextCharacters ? text : text.slice(0, maxTextCharacters);
}
