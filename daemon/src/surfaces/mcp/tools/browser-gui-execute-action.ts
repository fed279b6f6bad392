/** `browser_gui_execute_action`: does one thing with the pointer or the keyboard of the display. */
import { z } from 'zod';
import { InvalidInput } from '../../../http/route/envelope.ts';
import { validate } from '../../../http/route/validate.ts';
import { isFields } from '../../../kit/types/fields.ts';
import { ownAction } from '../../../operations/desktop/actions.ts';
import { action } from '../../desktop/routes.ts';
import { toolOf } from '../app.ts';
import { footer } from '../text.ts';

const kinds = ownAction.options.map(({ shape }) => shape.action_type.value);
const pixels = z.number().optional();

export const browserGuiExecuteAction = toolOf({
  name: 'browser_gui_execute_action',
  title: 'Operate the display',
  description:
    'Do one thing on the display. MOVE_TO, DRAG_TO: x, y. MOVE_REL, DRAG_REL: x_offset, y_offset. CLICK: x, y, button, ' +
    'num_clicks. RIGHT_CLICK, DOUBLE_CLICK: x, y. MOUSE_DOWN, MOUSE_UP: button. SCROLL: dx, dy. TYPING: text. ' +
    'PRESS, KEY_DOWN, KEY_UP: key. HOTKEY: keys. WAIT: duration. SET_CLIPBOARD: text. WINDOW_ACTIVATE, ' +
    'WINDOW_MINIMIZE: window_id. NODE_FOCUS, NODE_INVOKE, NODE_SET_VALUE: node_id, action, value. Without x and y: at ' +
    'the pointer.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.object({
    action_type: z.enum(kinds),
    x: pixels,
    y: pixels,
    x_offset: pixels,
    y_offset: pixels,
    dx: z.int().optional().describe('Notches, right is positive.'),
    dy: z.int().optional().describe('Notches, up is positive.'),
    button: z.enum(['left', 'right', 'middle']).optional(),
    num_clicks: z.int().min(1).max(3).optional(),
    text: z.string().optional(),
    use_clipboard: z.boolean().optional().describe('Paste the text instead of typing it.'),
    key: z.string().optional().describe('As in Enter, ctrl, a.'),
    keys: z.array(z.string()).optional(),
    duration: z.number().optional().describe('Seconds.'),
    window_id: z.string().optional(),
    node_id: z.string().optional(),
    action: z.string().optional(),
    value: z.string().optional(),
  }),
  output: z.object({ action_performed: z.string() }),
  // Other daemons take the fields below `action`, which is also the name of a field.
  prepare: ({ action: nested, ...fields }) =>
    isFields(nested) ? { ...fields, ...nested } : { ...fields, ...(nested !== undefined && { action: nested }) },
  operation: action.remote,
  read(input) {
    const checked = validate(ownAction, input, 'body');
    if ('errors' in checked) throw new InvalidInput(checked.errors);
    return checked.value;
  },
  answer: ({ action_performed: done }) => ({ text: footer(done), data: { action_performed: done } }),
});
