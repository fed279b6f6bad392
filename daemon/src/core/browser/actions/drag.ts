/** Drags an element onto another one, by pointer events or by the drag and drop of HTML. */
import type { Protocol } from 'devtools-protocol/types/protocol.js';
import { Deadline } from '../../../kit/deadline.ts';
import type { Point } from '../../../kit/types/geometry.ts';
import type { PageCall } from '../browser.ts';
import type { RefTarget } from '../page.ts';
import { findElement, subjectOf, type ElementName } from './element.ts';
import { pointOf, type Position } from './point.ts';
import { Pointer, type ModifierKey, type MouseButton } from './pointer.ts';

type DragData = Protocol.Input.DragData;

/** An element, and the place on it; null for a place that the pointer can reach. */
export interface Spot {
  readonly element: ElementName;
  readonly position: Position | null;
}

interface DragSpec extends Spot {
  readonly dragTo: Spot;
  readonly button: MouseButton;
  readonly modifiers: readonly ModifierKey[];
}

/** A page follows the pointer by its moves, so one jump to the end would not do. */
const steps = 10;
/** Time for the browser to hand over what the page drags. */
const dataMs = 1000;

/** Throws `ref_stale`, and `page_timeout` with the reason why one of the two elements cannot be reached. */
export async function drag(call: PageCall, source: RefTarget, spec: DragSpec): Promise<void> {
  const { page, signal } = call;
  const { element, dragTo, button, modifiers, position } = spec;
  const destination = await findElement(call, dragTo.element);
  const pointer = new Pointer(page.session, button, modifiers);
  using intercepted = await DragInterception.begin(call);
  const from = await pointOf(call, source, subjectOf(element), { position, mustWatch: true });
  if (from === null) return;
  await pointer.move(from, false, signal);
  await pointer.press(from, 1, signal);
  let at = from;
  try {
    // The destination may come into view only now, and the scroll may not move the pressed pointer.
    const options = { position: dragTo.position, mustWatch: false };
    const to = (await pointOf(call, destination, subjectOf(dragTo.element), options)) ?? from;
    for (let step = 1; step <= steps; step++) {
      at = between(from, to, step / steps);
      await pointer.move(at, true, signal);
      const data = await intercepted.dataAfterMove(source);
      if (data) return await drop(call, data, { over: at, at: (at = to) });
    }
  } finally {
    await pointer.release(at, 1, signal);
    await page.call(source.frame, 'landed', { isOver: true }, signal);
  }
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

/** Twice over the destination, because a page may show where to drop only after the first event. */
async function drop({ page, signal }: PageCall, data: DragData, { over, at }: { over: Point; at: Point }) {
  const send = (type: 'dragEnter' | 'dragOver' | 'drop', { x, y }: Point) =>
    page.session.send('Input.dispatchDragEvent', { type, x, y, data }, signal);
  await send('dragEnter', over);
  await send('dragOver', at);
  await send('dragOver', at);
  await send('drop', at);
}

/** Has the browser hand over the data of a drag, which would otherwise wait for a real mouse. */
class DragInterception implements Disposable {
  #data: DragData | null = null;
  readonly #removals: (() => void)[];
  #isPrevented = false;

  private constructor(private readonly call: PageCall) {
    this.#removals = [call.page.session.on('Input.dragIntercepted', ({ data }) => void (this.#data = data))];
  }

  static async begin(call: PageCall): Promise<DragInterception> {
    await call.page.session.send('Input.setInterceptDrags', { enabled: true }, call.signal);
    return new DragInterception(call);
  }

  /** Null while the page drags nothing by itself. */
  async dataAfterMove({ frame }: RefTarget): Promise<DragData | null> {
    const { page, signal } = this.call;
    if (this.#data || this.#isPrevented) return this.#data;
    const { dragged } = await page.call<{ dragged: 'no' | 'started' | 'prevented' }>(
      frame,
      'landed',
      { isOver: false },
      signal,
    );
    this.#isPrevented = dragged === 'prevented';
    if (dragged === 'started') await this.#arrival();
    return this.#data;
  }

  async #arrival(): Promise<void> {
    if (this.#data) return;
    using deadline = new Deadline(dataMs, this.call.signal);
    await new Promise<void>((resolve) => {
      deadline.signal.addEventListener('abort', () => resolve(), { once: true });
      this.#removals.push(this.call.page.session.on('Input.dragIntercepted', () => resolve()));
    });
  }

  [Symbol.dispose](): void {
    for (const remove of this.#removals) remove();
    this.call.page.session.tell('Input.setInterceptDrags', { enabled: false });
  }
}
