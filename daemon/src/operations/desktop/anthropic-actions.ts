/** The actions of Anthropic's computer tools (versions 2024-10-22 to 2025-11-24), mapped onto those of the desktop. */
import { z } from 'zod';
import type { Point } from '../../kit/types/geometry.ts';
import type { DesktopAction, Target } from '../../core/desktop/actions/action.ts';
import { parseChord, parseChords, type Chord } from '../../protocols/chord.ts';
import { coordinate, keyText, typedText, waitSeconds } from './action-fields.ts';
import { namedObject } from '../inputs.ts';

const pair = z.tuple([coordinate, coordinate]);
const place = { coordinate: pair.nullish().describe('The default is the position of the pointer.') };
const modifiers = { text: keyText.nullish().describe('Keys that are down meanwhile, such as `ctrl`.') };
const clickFields = { ...place, ...modifiers };
const clickTypes = ['left_click', 'right_click', 'middle_click', 'double_click', 'triple_click'] as const;
const keySequence = z.string().min(1).max(1000).describe('Keys in the syntax of `xdotool key`.');

function action<T extends string, S extends z.ZodRawShape>(names: T | readonly T[], id: string, shape: S) {
  const list = typeof names === 'string' ? [names] : [...names];
  return namedObject(`Anthropic${id}Action`, { action: z.literal(list), ...shape });
}

export const anthropicAction = z.discriminatedUnion('action', [
  action(['screenshot', 'cursor_position'], 'Read', {}),
  action('mouse_move', 'Move', { coordinate: pair }),
  action(clickTypes, 'Click', clickFields),
  action(['left_mouse_down', 'left_mouse_up'], 'Button', place),
  action('left_click_drag', 'Drag', { start_coordinate: pair.nullish(), coordinate: pair, ...modifiers }),
  action('scroll', 'Scroll', {
    ...clickFields,
    scroll_direction: z.enum(['up', 'down', 'left', 'right']),
    scroll_amount: z.number().min(0).default(3).describe('Notches, at most 100.'),
  }),
  action('key', 'Key', { text: keySequence, repeat: z.int().min(1).max(100).nullish() }),
  action('hold_key', 'HoldKey', { text: keyText, duration: waitSeconds }),
  action('type', 'Type', { text: typedText }),
  action('wait', 'Wait', { duration: waitSeconds }),
  action('zoom', 'Zoom', {
    region: z.tuple([coordinate, coordinate, coordinate, coordinate]).describe('Left, top, right and bottom.'),
  }),
]);

export type AnthropicAction = z.output<typeof anthropicAction>;

const clicks = {
  left_click: { button: 'left', count: 1 },
  right_click: { button: 'right', count: 1 },
  middle_click: { button: 'middle', count: 1 },
  double_click: { button: 'left', count: 2 },
  triple_click: { button: 'left', count: 3 },
} as const;

export function readAnthropic(body: AnthropicAction): DesktopAction {
  switch (body.action) {
    case 'screenshot':
      return { type: 'screenshot', area: null };
    case 'cursor_position':
      return { type: 'cursor' };
    case 'mouse_move':
      return { type: 'move', to: point(body.coordinate), holding: [] };
    case 'left_mouse_down':
      return { type: 'mouseDown', at: target(body.coordinate), button: 'left' };
    case 'left_mouse_up':
      return { type: 'mouseUp', at: target(body.coordinate), button: 'left' };
    case 'left_click_drag':
      return { type: 'drag', path: [body.start_coordinate, body.coordinate].flatMap(points), holding: held(body) };
    case 'scroll':
      return { type: 'scroll', at: target(body.coordinate), ...notches(body), holding: held(body) };
    case 'key':
      return { type: 'press', chords: repeated(parseChords(body.text), body.repeat ?? 1), holdSeconds: 0 };
    case 'hold_key':
      return { type: 'press', chords: [parseChord(body.text)], holdSeconds: body.duration };
    case 'type':
      return { type: 'type', text: body.text, usesClipboard: true };
    case 'wait':
      return { type: 'wait', seconds: body.duration };
    case 'zoom':
      return { type: 'screenshot', area: areaOf(body.region) };
    default:
      return { type: 'click', at: target(body.coordinate), ...clicks[body.action], holding: held(body) };
  }
}

type Pair = readonly [number, number];

function point([x, y]: Pair): Point {
  return { x, y };
}

function points(pair: Pair | null | undefined): Point[] {
  return pair ? [point(pair)] : [];
}

function target(pair: Pair | null | undefined): Target {
  return pair ? point(pair) : { x: null, y: null };
}

function held({ text }: { readonly text?: string | null | undefined }): Chord {
  return text === null || text === undefined ? [] : parseChord(text);
}

function notches(body: Extract<AnthropicAction, { readonly action: 'scroll' }>): { dx: number; dy: number } {
  const { scroll_direction: direction, scroll_amount: amount } = body;
  const sign = direction === 'up' || direction === 'left' ? -1 : 1;
  const isVertical = direction === 'up' || direction === 'down';
  return { dx: isVertical ? 0 : sign * amount, dy: isVertical ? sign * amount : 0 };
}

function repeated(chords: readonly Chord[], times: number): readonly Chord[] {
  return Array.from({ length: times }, () => chords).flat();
}

/** The corners may come in any order. */
function areaOf([x0, y0, x1, y1]: readonly [number, number, number, number]) {
  const [x, y] = [Math.min(x0, x1), Math.min(y0, y1)];
  return { x, y, width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
}
