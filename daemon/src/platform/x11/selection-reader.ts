/** Asks the owner of a selection for its content, at once or in parts, up to a limit. */
import type { Display } from './display.ts';
import type { XEvent } from './events.ts';
import { WindowEvents } from './window-events.ts';
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
  using events = new WindowEvents(display.connection, requestor);
  try {
    await display.selections.convert({ requestor, selection, target, property, time: 0 }, query.signal);
    const isAnswered = (event: XEvent) => (event.kind === 'selectionNotify' ? event.property !== 0 : null);
    const isOffered = await events.next(isAnswered, query.signal);
    query.signal.throwIfAborted();
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
  query: SelectionQuery & { readonly requestor: number; readonly property: number; readonly events: WindowEvents },
): Promise<SelectionPart> {
  const { requestor, property, events, maxBytes, signal } = query;
  const isNew = (event: XEvent) =>
    event.kind === 'propertyNotify' && !event.isDeleted && event.atom === property ? true : null;
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    await events.next(isNew, signal);
    signal.throwIfAborted();
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
