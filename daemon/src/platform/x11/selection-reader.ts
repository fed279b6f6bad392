/** Asks the owner of a selection for its content, at once or in parts, up to a limit. */
import type { Display } from './display.ts';
import type { XEvent } from './events.ts';
import { eventMasks } from './windows.ts';

export interface SelectionPart {
  readonly bytes: Buffer;
  /** The content is longer than the limit. */
  readonly isTruncated: boolean;
}

export interface SelectionQuery {
  /** For example `CLIPBOARD`. */
  readonly selection: string;
  /** For example `UTF8_STRING`. */
  readonly target: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const propertyName = 'BOXKEEP_SELECTION';

/** Null when the selection has no owner, or the owner does not have the target. Rejects with the signal's reason. */
export async function readSelection(display: Display, query: SelectionQuery): Promise<SelectionPart | null> {
  const atoms = await display.atoms.all(query.selection, query.target, propertyName, 'INCR');
  const [selection, target, property] = [atoms[query.selection], atoms[query.target], atoms[propertyName]];
  if (selection === undefined || target === undefined || property === undefined) return null;
  // A window of its own, so that the end of the window also ends a transfer that is too long.
  const requestor = display.windows.create(eventMasks.property);
  using events = new Events(display, requestor, query.signal);
  try {
    await display.selections.convert({ requestor, selection, target, property, time: 0 }, query.signal);
    const isOffered = await events.next((event) => (event.kind === 'selectionNotify' ? event.property !== 0 : null));
    if (!isOffered) return null;
    const limit = { maxBytes: query.maxBytes, isDeleted: true, signal: query.signal };
    const { type, bytes, remainingBytes } = await display.properties.read(requestor, property, limit);
    if (type !== atoms.INCR) return { bytes, isTruncated: remainingBytes > 0 };
    return await readParts(display, { ...query, requestor, property, events });
  } finally {
    display.windows.destroy(requestor);
  }
}

/** The names of the targets that the owner offers; empty without an owner. */
export async function readTargets(display: Display, selection: string, signal: AbortSignal): Promise<string[]> {
  const found = await readSelection(display, { selection, target: 'TARGETS', maxBytes: 4096, signal });
  const count = (found?.bytes.length ?? 0) >> 2;
  const atoms = Array.from({ length: count }, (_, index) => found?.bytes.readUInt32LE(4 * index) ?? 0);
  return await Promise.all(atoms.filter((atom) => atom !== 0).map((atom) => display.atoms.name(atom)));
}

async function readParts(
  display: Display,
  query: SelectionQuery & { readonly requestor: number; readonly property: number; readonly events: Events },
): Promise<SelectionPart> {
  const { requestor, property, events, maxBytes, signal } = query;
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    await events.next((event) => {
      const isNew = event.kind === 'propertyNotify' && !event.isDeleted && event.atom === property;
      return isNew ? true : null;
    });
    // The owner writes the next part when this one is deleted, so a part is read whole.
    const maxPartBytes = maxBytes - length + 4;
    const part = await display.properties.read(requestor, property, {
      maxBytes: maxPartBytes,
      isDeleted: true,
      signal,
    });
    if (part.bytes.length === 0) return { bytes: Buffer.concat(parts), isTruncated: false };
    parts.push(part.bytes);
    length += part.bytes.length;
    if (length > maxBytes || part.remainingBytes > 0) {
      return { bytes: Buffer.concat(parts).subarray(0, maxBytes), isTruncated: true };
    }
  }
}

/** The events about one window, kept from the beginning so that none is missed between two waits. */
class Events implements Disposable {
  #queue: XEvent[] = [];
  #wake: (() => void) | null = null;
  readonly #listening: Disposable;

  constructor(
    display: Display,
    window: number,
    private readonly signal: AbortSignal,
  ) {
    this.#listening = display.connection.listen((event) => {
      const isOurs =
        (event.kind === 'selectionNotify' && event.requestor === window) ||
        (event.kind === 'propertyNotify' && event.window === window);
      if (!isOurs) return;
      this.#queue.push(event);
      this.#wake?.();
    });
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** The first answer that is not null; earlier events are dropped. */
  async next<T>(read: (event: XEvent) => T | null): Promise<T> {
    for (;;) {
      this.signal.throwIfAborted();
      for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
        const answer = read(event);
        if (answer !== null) return answer;
      }
      await new Promise<void>((resolve) => void (this.#wake = resolve));
    }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.signal.removeEventListener('abort', this.#abort);
  }

  readonly #abort = () => this.#wake?.();
}
