/** The actions of OpenAI's computer tool, mapped onto those of the desktop. */
import { z } from 'zod';
import type { Button, DesktopAction } from '../../core/desktop/actions/action.ts';
import { chordOf, type Chord } from '../../protocols/chord.ts';
import { coordinate, keyText, maxKeys, typedText } from './action-fields.ts';
import { namedObject } from '../inputs.ts';

const point = { x: coordinate, y: coordinate };
const keyList = z.array(keyText).max(maxKeys);
const held = { keys: keyList.nullish().describe('Keys that are down meanwhile.') };
const pixels = z.number().default(0);
/** A path is drawn, point by point; a longer one takes too long. */
const maxPathPoints = 1000;

function action<T extends string, S extends z.ZodRawShape>(type: T, id: string, shape: S) {
  return namedObject(`OpenAi${id}Action`, { type: z.literal(type), ...shape });
}

const pathPoint = z.union([z.object(point), z.tuple([coordinate, coordinate]).transform(([x, y]) => ({ x, y }))]);

export const openAiAction = z.discriminatedUnion('type', [
  action('screenshot', 'Screenshot', {}),
  action('click', 'Click', {
    ...point,
    ...held,
    button: z.enum(['left', 'right', 'wheel', 'middle', 'back', 'forward']).default('left'),
  }),
  action('double_click', 'DoubleClick', { ...point, ...held }),
  action('move', 'Move', { ...point, ...held }),
  action('drag', 'Drag', { path: z.array(pathPoint).min(1).max(maxPathPoints), ...held }),
  action('scroll', 'Scroll', {
    ...point,
    ...held,
    scroll_x: pixels.describe('Pixels to the right; a notch of the wheel counts as 100.'),
    scroll_y: pixels.describe('Pixels down; a notch of the wheel counts as 100.'),
  }),
  action('keypress', 'Keypress', { keys: keyList.min(1) }),
  action('type', 'Type', { text: typedText }),
  action('wait', 'Wait', {}),
]);

export type OpenAiAction = z.output<typeof openAiAction>;

/** OpenAI's examples wait two seconds, because the action has no duration. */
const defaultWaitSeconds = 2;
/** Browsers scroll about this far for one notch. */
const pixelsPerNotch = 100;

export function readOpenAi(body: OpenAiAction): DesktopAction {
  switch (body.type) {
    case 'screenshot':
      return { type: 'screenshot', area: null };
    case 'click':
      return { type: 'click', at: at(body), button: buttonOf(body.button), count: 1, holding: holding(body) };
    case 'double_click':
      return { type: 'click', at: at(body), button: 'left', count: 2, holding: holding(body) };
    case 'move':
      return { type: 'move', to: at(body), holding: holding(body) };
    case 'drag':
      return { type: 'drag', path: body.path, holding: holding(body) };
    case 'scroll': {
      const [dx, dy] = [notches(body.scroll_x), notches(body.scroll_y)];
      return { type: 'scroll', at: at(body), dx, dy, holding: holding(body) };
    }
    case 'keypress':
      return { type: 'press', chords: [chordOf(body.keys)], holdSeconds: 0 };
    case 'type':
      return { type: 'type', text: body.text, usesClipboard: true };
    case 'wait':
      return { type: 'wait', seconds: defaultWaitSeconds };
  }
}

function at({ x, y }: { readonly x: number; readonly y: number }) {
  return { x, y };
}

function holding({ keys }: { readonly keys?: readonly string[] | null | undefined }): Chord {
  return chordOf(keys ?? []);
}

function buttonOf(button: Button | 'wheel'): Button {
  return button === 'wheel' ? 'middle' : button;
}

/** At least one notch, so that a small scroll is not lost. */
function notches(scroll: number): number {
  return Math.sign(scroll) * Math.ceil(Math.abs(scroll) / pixelsPerNotch);
}
