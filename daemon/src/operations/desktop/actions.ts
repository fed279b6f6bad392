/** The desktop actions as clients write them: the contract's own, and those of two vocabularies for agents. */
import { z } from 'zod';
import type { DesktopAction, Target } from '../../core/desktop/actions/action.ts';
import { chordOf, parseChord } from '../../protocols/chord.ts';
import { anthropicAction, readAnthropic, type AnthropicAction } from './anthropic-actions.ts';
import { coordinate, keyText, maxClipboardLength, maxKeys, maxTextLength, waitSeconds } from './action-fields.ts';
import { openAiAction, readOpenAi, type OpenAiAction } from './openai-actions.ts';
import { namedObject } from '../inputs.ts';

/** The default is the position of the pointer. */
const place = { x: coordinate.nullish(), y: coordinate.nullish() };
const point = { x: coordinate, y: coordinate };
const offset = { x_offset: coordinate, y_offset: coordinate };
const button = z.enum(['left', 'right', 'middle']).default('left');
const window = { window_id: z.string().min(1).describe('An id of the list of windows.') };
const node = { node_id: z.string().min(1).describe('An id of the accessibility nodes.') };

function action<T extends string, S extends z.ZodRawShape>(type: T, id: string, shape: S) {
  return namedObject(`Desktop${id}`, { action_type: z.literal(type), ...shape });
}

export const ownAction = z.discriminatedUnion('action_type', [
  action('MOVE_TO', 'MoveToAction', point),
  action('MOVE_REL', 'MoveRelAction', offset),
  action('CLICK', 'ClickAction', { ...place, button, num_clicks: z.literal([1, 2, 3]).default(1) }),
  action('MOUSE_DOWN', 'MouseDownAction', { button }),
  action('MOUSE_UP', 'MouseUpAction', { button }),
  action('RIGHT_CLICK', 'RightClickAction', place),
  action('DOUBLE_CLICK', 'DoubleClickAction', place),
  action('DRAG_TO', 'DragToAction', point),
  action('DRAG_REL', 'DragRelAction', offset),
  action('SCROLL', 'ScrollAction', {
    dx: z.int().default(0).describe('Notches to the right, at most 100.'),
    dy: z.int().default(0).describe('Notches down, at most 100.'),
  }),
  action('TYPING', 'TypingAction', {
    text: z.string().min(1).max(maxTextLength),
    use_clipboard: z.boolean().nullable().default(true).describe('Whether text beyond ASCII is pasted.'),
  }),
  action('PRESS', 'PressAction', { key: keyText }),
  action('KEY_DOWN', 'KeyDownAction', { key: keyText }),
  action('KEY_UP', 'KeyUpAction', { key: keyText }),
  action('HOTKEY', 'HotkeyAction', { keys: z.array(keyText).min(1).max(maxKeys) }),
  action('WAIT', 'WaitAction', { duration: waitSeconds }),
  action('SET_CLIPBOARD', 'SetClipboardAction', {
    text: z.string().max(maxClipboardLength).describe('At most 1 MiB in UTF-8.'),
  }),
  action('WINDOW_ACTIVATE', 'WindowActivateAction', window),
  action('WINDOW_MINIMIZE', 'WindowMinimizeAction', window),
  action('NODE_FOCUS', 'NodeFocusAction', node),
  action('NODE_INVOKE', 'NodeInvokeAction', { ...node, action: z.string().min(1).nullish() }),
  action('NODE_SET_VALUE', 'NodeSetValueAction', {
    ...node,
    value: z.union([z.string().max(maxTextLength), z.number()]).describe('A number for a range, text otherwise.'),
  }),
]);

type OwnAction = z.output<typeof ownAction>;
export type WireAction = OwnAction | AnthropicAction | OpenAiAction;

/** The field that names the kind of action tells the vocabularies apart. */
export const WireAction = z.union([ownAction, anthropicAction, openAiAction]);

/** The name that the client used, for the answer. */
export function actionName(body: WireAction): string {
  if ('action_type' in body) return body.action_type;
  return 'type' in body ? body.type : body.action;
}

export function readAction(body: WireAction): DesktopAction {
  if ('action_type' in body) return readOwn(body);
  return 'type' in body ? readOpenAi(body) : readAnthropic(body);
}

function readOwn(body: OwnAction): DesktopAction {
  switch (body.action_type) {
    case 'MOVE_TO':
      return { type: 'move', to: { x: body.x, y: body.y }, holding: [] };
    case 'MOVE_REL':
      return { type: 'moveBy', by: { x: body.x_offset, y: body.y_offset } };
    case 'CLICK':
      return { type: 'click', at: target(body), button: body.button, count: body.num_clicks, holding: [] };
    case 'RIGHT_CLICK':
      return { type: 'click', at: target(body), button: 'right', count: 1, holding: [] };
    case 'DOUBLE_CLICK':
      return { type: 'click', at: target(body), button: 'left', count: 2, holding: [] };
    case 'MOUSE_DOWN':
      return { type: 'mouseDown', at: target({}), button: body.button };
    case 'MOUSE_UP':
      return { type: 'mouseUp', at: target({}), button: body.button };
    case 'DRAG_TO':
      return { type: 'drag', path: [{ x: body.x, y: body.y }], holding: [] };
    case 'DRAG_REL':
      return { type: 'dragBy', by: { x: body.x_offset, y: body.y_offset } };
    case 'SCROLL':
      return { type: 'scroll', at: target({}), dx: body.dx, dy: body.dy, holding: [] };
    default:
      return readOther(body);
  }
}

type PointerType = `MOVE_${string}` | `MOUSE_${string}` | `DRAG_${string}` | `${string}CLICK` | 'SCROLL';
type OtherAction = Exclude<OwnAction, { readonly action_type: PointerType }>;

function readOther(body: OtherAction): DesktopAction {
  switch (body.action_type) {
    case 'TYPING':
      return { type: 'type', text: body.text, usesClipboard: body.use_clipboard ?? true };
    case 'PRESS':
      return { type: 'press', chords: [parseChord(body.key)], holdSeconds: 0 };
    case 'KEY_DOWN':
      return { type: 'keyDown', chord: parseChord(body.key) };
    case 'KEY_UP':
      return { type: 'keyUp', chord: parseChord(body.key) };
    case 'HOTKEY':
      return { type: 'press', chords: [chordOf(body.keys)], holdSeconds: 0 };
    case 'WAIT':
      return { type: 'wait', seconds: body.duration };
    case 'SET_CLIPBOARD':
      return { type: 'setClipboard', text: body.text };
    case 'WINDOW_ACTIVATE':
      return { type: 'activateWindow', windowId: body.window_id };
    case 'WINDOW_MINIMIZE':
      return { type: 'minimizeWindow', windowId: body.window_id };
    case 'NODE_FOCUS':
      return { type: 'focusNode', nodeId: body.node_id };
    case 'NODE_INVOKE':
      return { type: 'invokeNode', nodeId: body.node_id, action: body.action ?? null };
    case 'NODE_SET_VALUE':
      return { type: 'setNodeValue', nodeId: body.node_id, value: String(body.value) };
  }
}

function target({ x, y }: { readonly x?: number | null | undefined; readonly y?: number | null | undefined }): Target {
  return { x: x ?? null, y: y ?? null };
}
