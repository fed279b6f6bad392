/** Moves, clicks, drags and scrolls with the pointer of a display. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Size, Point } from '../../../kit/types/geometry.ts';
import type { InputRequests } from '../../../platform/x11/pointer.ts';
import type { Button, Target } from '../actions/action.ts';
import type { CallOptions } from '../desktop.ts';
import { pause } from './pause.ts';

const buttonNumbers: Readonly<Record<Button, number>> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 };
const wheel = { up: 4, down: 5, left: 6, right: 7 } as const;
const maxNotches = 100;

/** Programs begin a drag at its first moves, and ask the target of a drop while the pointer rests over it. */
const drag = { stepsPerLeg: 8, stepMs: 12, restMs: 60, maxSteps: 400 } as const;

export class DesktopPointer {
  constructor(
    private readonly input: Pick<InputRequests, 'pointer' | 'moveTo' | 'button'>,
    private readonly screenSize: (options: CallOptions) => Promise<Size>,
  ) {}

  async position({ signal }: CallOptions): Promise<Point> {
    const { x, y } = await this.input.pointer(signal);
    return { x, y };
  }

  /** Throws `bad_argument` for a place outside the screen. */
  async moveTo(target: Target, options: CallOptions): Promise<void> {
    if (target.x === null && target.y === null) return;
    const point = await this.#resolve(target, options);
    await this.input.moveTo(point.x, point.y, options.signal);
  }

  /** Stops at the edge of the screen. */
  async moveBy(by: Point, options: CallOptions): Promise<void> {
    const point = await this.#after(by, options);
    await this.input.moveTo(point.x, point.y, options.signal);
  }

  async click(target: Target, button: Button, { count, ...options }: CallOptions & { count: number }): Promise<void> {
    await this.moveTo(target, options);
    await this.#repeat(buttonNumbers[button], count, options);
  }

  async press(target: Target, button: Button, options: CallOptions): Promise<void> {
    await this.moveTo(target, options);
    await this.input.button(buttonNumbers[button], true, options.signal);
  }

  async release(target: Target, button: Button, options: CallOptions): Promise<void> {
    await this.moveTo(target, options);
    await this.input.button(buttonNumbers[button], false, options.signal);
  }

  /** The wheel turns at most 100 notches in each direction. */
  async scroll(target: Target, { dx, dy }: { readonly dx: number; readonly dy: number }, options: CallOptions) {
    await this.moveTo(target, options);
    await this.#repeat(dy < 0 ? wheel.up : wheel.down, notches(dy), options);
    await this.#repeat(dx < 0 ? wheel.left : wheel.right, notches(dx), options);
  }

  /** From the first point, or from the pointer when there is one point. */
  async drag(path: readonly Point[], options: CallOptions): Promise<void> {
    const points: Point[] = [];
    for (const point of path) points.push(await this.#resolve(point, options));
    const first = points.length > 1 ? points.shift() : undefined;
    if (first) await this.input.moveTo(first.x, first.y, options.signal);
    await this.#dragAlong(first ?? (await this.position(options)), points, options);
  }

  async dragBy(by: Point, options: CallOptions): Promise<void> {
    const [from, to] = [await this.position(options), await this.#after(by, options)];
    await this.#dragAlong(from, [to], options);
  }

  async #dragAlong(from: Point, points: readonly Point[], options: CallOptions): Promise<void> {
    options.signal.throwIfAborted();
    try {
      await this.input.button(buttonNumbers.left, true, options.signal);
      await pause(drag.restMs, options);
      for (const { x, y } of stepsAlong([from, ...points])) {
        await this.input.moveTo(x, y, options.signal);
        await pause(drag.stepMs, options);
      }
      await pause(drag.restMs, options);
    } finally {
      // Also when the client has gone, even before the server has confirmed the press: a button that stays down would
      // spoil every later action.
      await this.input.button(buttonNumbers.left, false);
    }
  }

  /** One write for all, because nothing has to be known in between. */
  async #repeat(button: number, count: number, { signal }: CallOptions): Promise<void> {
    const sent = Array.from({ length: count }, () => [
      this.input.button(button, true, signal),
      this.input.button(button, false, signal),
    ]);
    await Promise.all(sent.flat());
  }

  async #resolve({ x, y }: Target, options: CallOptions): Promise<Point> {
    const isComplete = x !== null && y !== null;
    const [size, at] = await Promise.all([this.screenSize(options), isComplete ? null : this.position(options)]);
    return {
      x: inside(x ?? at?.x ?? 0, size.width, { axis: 'x', size }),
      y: inside(y ?? at?.y ?? 0, size.height, { axis: 'y', size }),
    };
  }

  async #after(by: Point, options: CallOptions): Promise<Point> {
    const [size, at] = await Promise.all([this.screenSize(options), this.position(options)]);
    return { x: clamp(at.x + by.x, size.width), y: clamp(at.y + by.y, size.height) };
  }
}

/** A coordinate equal to the width is the last pixel, because scaling from a smaller picture rounds. */
function inside(value: number, length: number, { axis, size }: { axis: 'x' | 'y'; size: Size }): number {
  if (value >= -1 && value <= length) return clamp(value, length);
  throw new CoreError('bad_argument', `${axis} ${value} is outside the screen of ${size.width}x${size.height} pixels`, {
    hint: 'Pass a place on the screen.',
    advice: advise`Pass ${'scaleTo'} too when the place refers to a picture of another size.`,
  });
}

function clamp(value: number, length: number): number {
  return Math.min(Math.max(Math.round(value), 0), length - 1);
}

function notches(count: number): number {
  return Math.min(Math.round(Math.abs(count)), maxNotches);
}

/** Points on the way, so that programs that follow the pointer see it move; long paths get fewer between two points. */
function stepsAlong(points: readonly Point[]): Point[] {
  const legs = points.slice(1).map((to, index) => ({ from: points[index] ?? to, to }));
  const perLeg = Math.max(1, Math.min(drag.stepsPerLeg, Math.floor(drag.maxSteps / Math.max(1, legs.length))));
  return legs.flatMap(({ from, to }) =>
    Array.from({ length: perLeg }, (_, index) => between(from, to, (index + 1) / perLeg)),
  );
}

function between(from: Point, to: Point, share: number): Point {
  return { x: Math.round(from.x + (to.x - from.x) * share), y: Math.round(from.y + (to.y - from.y) * share) };
}
