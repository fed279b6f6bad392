/** The gestures of a user in each vocabulary of desktop actions, as bodies of requests. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Click {
  readonly button?: 'left' | 'middle' | 'right';
  readonly isDouble?: boolean;
}

/** Each method returns the bodies of the requests that make the gesture, in order. */
export interface Vocabulary {
  readonly name: string;
  readonly route: string;
  click(at: Point, how: Click): readonly object[];
  drag(from: Point, to: Point): readonly object[];
  type(text: string): readonly object[];
  /** Keys by their X11 names; they go down in order. */
  press(keys: readonly string[]): readonly object[];
  /** Positive is down. */
  scroll(at: Point, notches: number): readonly object[];
}

/** The actions of the contract, which the routes of both versions take. */
function ownVocabulary(name: string, route: string): Vocabulary {
  return {
    name,
    route,
    click: (at, { button = 'left', isDouble = false }) => [
      { action_type: 'CLICK', ...at, button, num_clicks: isDouble ? 2 : 1 },
    ],
    drag: (from, to) => [
      { action_type: 'MOVE_TO', ...from },
      { action_type: 'DRAG_TO', ...to },
    ],
    type: (text) => [{ action_type: 'TYPING', text }],
    press: (keys) => [{ action_type: 'HOTKEY', keys }],
    scroll: (at, notches) => [
      { action_type: 'MOVE_TO', ...at },
      { action_type: 'SCROLL', dy: notches },
    ],
  };
}

const pair = ({ x, y }: Point) => [x, y];

const anthropic: Vocabulary = {
  name: 'Anthropic actions',
  route: 'POST /v2/computer/actions',
  click: (at, { button = 'left', isDouble = false }) => [
    { action: isDouble ? 'double_click' : `${button}_click`, coordinate: pair(at) },
  ],
  drag: (from, to) => [{ action: 'left_click_drag', start_coordinate: pair(from), coordinate: pair(to) }],
  type: (text) => [{ action: 'type', text }],
  press: (keys) => [{ action: 'key', text: keys.join('+') }],
  scroll: (at, notches) => [
    {
      ...{ action: 'scroll', coordinate: pair(at), scroll_amount: Math.abs(notches) },
      scroll_direction: notches < 0 ? 'up' : 'down',
    },
  ],
};

const pixelsPerNotch = 100;

const openAi: Vocabulary = {
  name: 'OpenAI actions',
  route: 'POST /v2/computer/actions',
  click: (at, { button = 'left', isDouble = false }) => [
    isDouble
      ? { type: 'double_click', ...at }
      : { type: 'click', ...at, button: button === 'middle' ? 'wheel' : button },
  ],
  drag: (from, to) => [{ type: 'drag', path: [from, to] }],
  type: (text) => [{ type: 'type', text }],
  press: (keys) => [{ type: 'keypress', keys: keys.map((key) => (key === 'Return' ? 'ENTER' : key.toUpperCase())) }],
  scroll: (at, notches) => [{ type: 'scroll', ...at, scroll_x: 0, scroll_y: notches * pixelsPerNotch }],
};

export const vocabularies: readonly Vocabulary[] = [
  ownVocabulary('v2 actions', 'POST /v2/computer/actions'),
  ownVocabulary('v1 actions', 'POST /v1/browser/actions'),
  anthropic,
  openAi,
];
