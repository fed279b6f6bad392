/** The events about one window, kept from the beginning so that none is missed between two waits. */
import { Notifier } from '../../kit/events/notifier.ts';
import type { X11Connection } from './connection.ts';
import type { XEvent } from './events.ts';

export class WindowEvents implements Disposable {
  #queue: XEvent[] = [];
  readonly #arrived = new Notifier();
  readonly #listening: Disposable;

  constructor(connection: X11Connection, window: number) {
    this.#listening = connection.listen((event) => {
      if (windowOf(event) !== window) return;
      this.#queue.push(event);
      this.#arrived.notify();
    });
  }

  /** The first answer that is not null; earlier events are dropped. Null when the signal aborts first. */
  async next<T>(read: (event: XEvent) => T | null, signal: AbortSignal): Promise<T | null> {
    while (!signal.aborted) {
      for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
        const answer = read(event);
        if (answer !== null) return answer;
      }
      await this.#arrived.wait(signal);
    }
    return null;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }
}

function windowOf(event: XEvent): number | null {
  if (event.kind === 'selectionNotify') return event.requestor;
  return event.kind === 'propertyNotify' || event.kind === 'destroyNotify' ? event.window : null;
}
