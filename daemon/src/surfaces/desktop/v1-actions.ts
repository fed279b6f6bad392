/** The desktop actions of 1.x clients: one schema for each kind of action. */
import { z } from 'zod';
import { namedObject } from '../../operations/inputs.ts';

/** The default is the position of the pointer. */
const place = { x: z.number().nullish(), y: z.number().nullish() };
const point = { x: z.number(), y: z.number() };
const offset = { x_offset: z.number(), y_offset: z.number() };
const button = z.enum(['left', 'right', 'middle']).default('left');

function action<T extends string, S extends z.ZodRawShape>(type: T, id: string, shape: S) {
  return namedObject(id, { action_type: z.literal(type), ...shape });
}

export const V1Action = z.discriminatedUnion('action_type', [
  action('MOVE_TO', 'MoveToAction', point),
  action('MOVE_REL', 'MoveRelAction', offset),
  action('CLICK', 'ClickAction', {
    ...place,
    button,
    num_clicks: z.literal([1, 2, 3]).default(1),
  }),
  action('MOUSE_DOWN', 'MouseDownAction', { button }),
  action('MOUSE_UP', 'MouseUpAction', { button }),
  action('RIGHT_CLICK', 'RightClickAction', place),
  action('DOUBLE_CLICK', 'DoubleClickAction', place),
  action('DRAG_TO', 'DragToAction', point),
  action('DRAG_REL', 'DragRelAction', offset),
  action('SCROLL', 'ScrollAction', { dx: z.int().default(0), dy: z.int().default(0) }),
  action('TYPING', 'TypingAction', { text: z.string().min(1), use_clipboard: z.boolean().nullable().default(true) }),
  action('PRESS', 'PressAction', { key: z.string() }),
  action('KEY_DOWN', 'KeyDownAction', { key: z.string() }),
  action('KEY_UP', 'KeyUpAction', { key: z.string() }),
  action('HOTKEY', 'HotkeyAction', { keys: z.array(z.string()).min(1) }),
  action('WAIT', 'WaitAction', { duration: z.number().gt(0).describe('Seconds.') }),
]);
