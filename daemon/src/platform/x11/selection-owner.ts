/** Offers content as a selection, and hands the content to each program that asks for it. */
import { Deadline } from '../../kit/deadline.ts';
import type { Display } from './display.ts';
import type { SelectionRequestEvent, XEvent } from './events.ts';
import { WindowEvents } from './window-events.ts';
import { eventMasks } from './windows.ts';
import { X11Closed, X11Refusal } from '../../protocols/x11-errors.ts';

/** The bytes for each target, such as `UTF8_STRING`. */
export type SelectionContent = ReadonlyMap<string, Uint8Array>;

export interface Delivery {
  /** The window that has taken the content. */
  readonly requestor: number;
  /** `TARGETS` for a program that has asked which targets there are. */
  readonly target: string;
}

type DeliveryListener = (delivery: Delivery) => void;

/** Content beyond this size goes in parts, as the protocol asks. */
const maxPartBytes = 256 * 1024;
/** A program that does not take its content within this time has forgotten it. */
const takenWithinMs = 5_000;
const maxTransfers = 64;

export class SelectionOwner implements Disposable {
  readonly #window: number;
  readonly #offers = new Map<number, SelectionContent>();
  readonly #listeners = new Set<DeliveryListener>();
  readonly #listening: Disposable;
  #transfers = 0;

  constructor(private readonly display: Display) {
    this.#window = display.windows.create();
    this.#listening = display.connection.listen((event) => this.#receive(event));
  }

  /** Replaces the owner of the selection, such as `CLIPBOARD`. */
  async offer(selection: string, content: SelectionContent, signal?: AbortSignal): Promise<void> {
    const atom = await this.display.atoms.of(selection);
    this.#offers.set(atom, content);
    await this.display.selections.own(atom, this.#window, 0, signal);
  }

  /** Leaves the selection without an owner, unless another program owns it by now. */
  async withdraw(selection: string): Promise<void> {
    const atom = await this.display.atoms.of(selection);
    if (!this.#offers.delete(atom)) return;
    await this.display.selections.own(atom, 0);
  }

  /** Null while another program owns the selection. */
  async offered(selection: string): Promise<SelectionContent | null> {
    return this.#offers.get(await this.display.atoms.of(selection)) ?? null;
  }

  /** Calls the listener with each delivery of content until the result is disposed of. */
  listen(listener: DeliveryListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.display.windows.destroy(this.#window);
  }

  #receive(event: XEvent): void {
    if (event.kind === 'selectionClear' && event.owner === this.#window) this.#offers.delete(event.selection);
    if (event.kind !== 'selectionRequest' || event.owner !== this.#window) return;
    this.#serve(event).catch((error: unknown) => {
      // The requestor or the display has gone, so no program waits for the answer.
      if (!(error instanceof X11Refusal || error instanceof X11Closed)) throw error;
    });
  }

  async #serve(request: SelectionRequestEvent): Promise<void> {
    const content = this.#offers.get(request.selection);
    const target = await this.display.atoms.name(request.target);
    // A client of the oldest kind names no property and means the one of the target.
    const property = request.property === 0 ? request.target : request.property;
    if (content && target === 'TARGETS') await this.#serveTargets({ ...request, property }, content);
    else if (!(await this.#serveContent({ ...request, property }, content?.get(target)))) return;
    for (const listener of [...this.#listeners]) listener({ requestor: request.requestor, target });
  }

  /** False for a target that is not offered. */
  async #serveContent(request: SelectionRequestEvent, bytes: Uint8Array | undefined): Promise<boolean> {
    if (!bytes || this.#transfers >= maxTransfers) {
      await this.display.selections.answer(request, 0);
      return false;
    }
    this.#transfers += 1;
    try {
      await this.#transfer(request, Buffer.from(bytes));
    } finally {
      this.#transfers -= 1;
    }
    return true;
  }

  async #serveTargets(request: SelectionRequestEvent, content: SelectionContent): Promise<void> {
    const names = ['TARGETS', ...content.keys()];
    const [type, ...atoms] = await Promise.all(['ATOM', ...names].map((name) => this.display.atoms.of(name)));
    await this.#write(request, { type: type ?? 0, format: 32, bytes: numbers(atoms) });
    await this.display.selections.answer(request, request.property);
  }

  /** Resolves when the requestor has read everything, which it tells by deleting the property. */
  async #transfer(request: SelectionRequestEvent, bytes: Buffer): Promise<void> {
    const { requestor, property } = request;
    await this.display.windows.select(requestor, eventMasks.property | eventMasks.structure);
    using events = new WindowEvents(this.display.connection, requestor);
    try {
      if (bytes.length <= maxPartBytes) {
        await this.#write(request, { type: await this.#typeOf(request.target), format: 8, bytes });
        await this.display.selections.answer(request, property);
        await isTaken(events, property);
      } else {
        await this.#transferParts(request, bytes, events);
      }
    } finally {
      await this.display.windows.select(requestor, 0);
    }
  }

  async #transferParts(request: SelectionRequestEvent, bytes: Buffer, events: WindowEvents): Promise<void> {
    const incr = await this.display.atoms.of('INCR');
    await this.#write(request, { type: incr, format: 32, bytes: numbers([bytes.length]) });
    await this.display.selections.answer(request, request.property);
    // An empty part is the end.
    for (let at = 0; at < bytes.length + maxPartBytes; at += maxPartBytes) {
      if (!(await isTaken(events, request.property))) return;
      const part = bytes.subarray(at, at + maxPartBytes);
      await this.#write(request, { type: await this.#typeOf(request.target), format: 8, bytes: part });
    }
    await isTaken(events, request.property);
  }

  /** Text for the target `TEXT` has the type of its encoding; any other target is its own type. */
  async #typeOf(target: number): Promise<number> {
    const [text, utf8] = await Promise.all(['TEXT', 'UTF8_STRING'].map((name) => this.display.atoms.of(name)));
    return target === text ? (utf8 ?? target) : target;
  }

  async #write(
    { requestor, property }: SelectionRequestEvent,
    value: { readonly type: number; readonly format: 8 | 32; readonly bytes: Buffer },
  ): Promise<void> {
    await this.display.properties.write(requestor, { property, ...value });
  }
}

/** False when the property was not deleted in time, or its window has gone. */
async function isTaken(events: WindowEvents, property: number): Promise<boolean> {
  using deadline = new Deadline(takenWithinMs);
  const answer = await events.next((event) => {
    if (event.kind === 'destroyNotify') return false;
    return event.kind === 'propertyNotify' && event.isDeleted && event.atom === property ? true : null;
  }, deadline.signal);
  return answer ?? false;
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * index);
  return bytes;
}
