/** Sends the events of a mouse to a page. */
import type { Point } from '../../../kit/types/geometry.ts';
import type { Session } from '../session.ts';

export const mouseButtons = ['left', 'middle', 'right', 'back', 'forward'] as const;
export type MouseButton = (typeof mouseButtons)[number];

export const modifierKeys = ['alt', 'control', 'meta', 'shift'] as const;
export type ModifierKey = (typeof modifierKeys)[number];

/** The bits of `Input.dispatchMouseEvent`. */
const buttonBits: Readonly<Record<MouseButton, number>> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 };
export const modifierBits: Readonly<Record<ModifierKey, number>> = { alt: 1, control: 2, meta: 4, shift: 8 };

export class Pointer {
  readonly #modifiers: number;

  constructor(
    private readonly session: Session,
    private readonly button: MouseButton,
    modifiers: readonly ModifierKey[],
  ) {
    this.#modifiers = modifiers.reduce((bits, key) => bits | modifierBits[key], 0);
  }

  /** `isPressed` is true for a move with the button down. */
  async move(to: Point, isPressed: boolean, signal: AbortSignal): Promise<void> {
    const button = isPressed ? this.button : 'none';
    await this.#send('mouseMoved', to, { button, buttons: isPressed ? buttonBits[this.button] : 0 }, signal);
  }

  async press(at: Point, clickCount: number, signal: AbortSignal): Promise<void> {
    await this.#send('mousePressed', at, { ...this.#pressed, clickCount }, signal);
  }

  async release(at: Point, clickCount: number, signal: AbortSignal): Promise<void> {
    await this.#send('mouseReleased', at, { button: this.button, buttons: 0, clickCount }, signal);
  }

  /** Moves to the point and clicks there. The browser handles the events in order, so none is awaited alone. */
  async click(at: Point, count: number, signal: AbortSignal): Promise<void> {
    const events = [this.move(at, false, signal)];
    for (let clickCount = 1; clickCount <= count; clickCount++) {
      events.push(this.press(at, clickCount, signal), this.release(at, clickCount, signal));
    }
    await Promise.all(events);
  }

  get #pressed() {
    return { button: this.button, buttons: buttonBits[this.button] };
  }

  async #send(
    type: 'mouseMoved' | 'mousePressed' | 'mouseReleased',
    { x, y }: Point,
    state: { button: MouseButton | 'none'; buttons: number; clickCount?: number },
    signal: AbortSignal,
  ): Promise<void> {
    const event = { type, x, y, modifiers: this.#modifiers, pointerType: 'mouse' as const, ...state };
    await this.session.send('Input.dispatchMouseEvent', event, signal);
  }
}
