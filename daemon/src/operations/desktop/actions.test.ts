/** The vocabularies of desktop actions: what each action of a client means, and what is refused. */
import { expect, test } from 'bun:test';
import { validate } from '../../http/route/validate.ts';
import { actionName, readAction, WireAction } from './actions.ts';

function read(body: object) {
  const result = validate(WireAction, body, 'body');
  return 'value' in result ? readAction(result.value) : result.errors;
}

const here = { x: null, y: null };

test.each([
  [
    { action_type: 'CLICK', x: 3 },
    { type: 'click', at: { x: 3, y: null }, button: 'left', count: 1, holding: [] },
  ],
  [
    { action_type: 'HOTKEY', keys: ['CTRL', 'S'] },
    { type: 'press', chords: [['CTRL', 's']], holdSeconds: 0 },
  ],
  [
    { action_type: 'TYPING', text: 'a' },
    { type: 'type', text: 'a', usesClipboard: true },
  ],
  [
    { action_type: 'PRESS', key: 'ctrl++' },
    { type: 'press', chords: [['ctrl', '+']], holdSeconds: 0 },
  ],
  [
    { action_type: 'NODE_INVOKE', node_id: 'n' },
    { type: 'invokeNode', nodeId: 'n', action: null },
  ],
  [{ action: 'triple_click' }, { type: 'click', at: here, button: 'left', count: 3, holding: [] }],
  [
    { action: 'scroll', coordinate: [1, 2], scroll_direction: 'up', scroll_amount: 5, text: 'shift' },
    { type: 'scroll', at: { x: 1, y: 2 }, dx: 0, dy: -5, holding: ['shift'] },
  ],
  [
    { action: 'key', text: 'ctrl+shift+T Tab', repeat: 2 },
    {
      type: 'press',
      chords: [['ctrl', 'shift', 't'], ['Tab'], ['ctrl', 'shift', 't'], ['Tab']],
      holdSeconds: 0,
    },
  ],
  [
    { action: 'hold_key', text: 'space', duration: 2 },
    { type: 'press', chords: [['space']], holdSeconds: 2 },
  ],
  [
    { action: 'zoom', region: [10, 20, 4, 50] },
    { type: 'screenshot', area: { x: 4, y: 20, width: 6, height: 30 } },
  ],
  [
    { action: 'left_click_drag', start_coordinate: [1, 2], coordinate: [3, 4] },
    {
      type: 'drag',
      path: [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ],
      holding: [],
    },
  ],
  [
    { type: 'click', x: 1, y: 2, button: 'wheel', keys: ['SHIFT'] },
    { type: 'click', at: { x: 1, y: 2 }, button: 'middle', count: 1, holding: ['SHIFT'] },
  ],
  [
    { type: 'scroll', x: 1, y: 2, scroll_x: 0, scroll_y: -250 },
    { type: 'scroll', at: { x: 1, y: 2 }, dx: 0, dy: -3, holding: [] },
  ],
  [
    { type: 'drag', path: [[1, 2], { x: 3, y: 4 }] },
    {
      type: 'drag',
      path: [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ],
      holding: [],
    },
  ],
  [
    { type: 'keypress', keys: ['CTRL', 'A'] },
    { type: 'press', chords: [['CTRL', 'a']], holdSeconds: 0 },
  ],
  [{ type: 'wait' }, { type: 'wait', seconds: 2 }],
])('DESK-1 %j is understood', (body, action) => {
  expect(read(body) as unknown).toEqual(action);
});

test.each([
  [{}, 'body.action_type', 'missing', 'is required'],
  [{ action_type: 'JUMP' }, 'body.action_type', 'enum', /must be one of MOVE_TO, .*NODE_SET_VALUE/],
  [{ action: 'jump' }, 'body.action', 'enum', /must be one of screenshot, .*zoom/],
  [{ type: 'jump' }, 'body.type', 'enum', /must be one of screenshot, click, /],
  [{ action_type: 'CLICK', button: 'wheel' }, 'body.button', 'enum', 'must be one of left, right, middle'],
  [{ action: 'left_click', coordinate: ['a', 1] }, 'body.coordinate.0', 'float_type', 'must be a number'],
  [{ action: 'wait', duration: 61 }, 'body.duration', 'too_large', 'must be at most 60'],
  [{ type: 'click', x: 1 }, 'body.y', 'missing', 'is required'],
])('DESK-1 %j is refused with the field and the reason', (body, location, type, message) => {
  expect(read(body) as unknown).toEqual([{ location, type, message: expect.stringMatching(message) as string }]);
});

test('DESK-1 the answer names the action as the client did', () => {
  expect(actionName({ action: 'left_click' })).toBe('left_click');
  expect(actionName({ type: 'wait' })).toBe('wait');
  expect(actionName({ action_type: 'MOUSE_UP', button: 'left' })).toBe('MOUSE_UP');
});
