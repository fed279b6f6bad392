/** Requests about selections: who owns the clipboard, and the exchange of its content. */
import type { X11Connection } from './connection.ts';
import type { Conversion, SelectionRequestEvent } from './events.ts';
import { Packer } from './message.ts';

export class SelectionRequests {
  constructor(private readonly connection: X11Connection) {}

  /** The window that owns the selection; 0 for none. */
  async owner(selection: number, signal?: AbortSignal): Promise<number> {
    return (await this.connection.reply({ opcode: 23, body: new Packer().u32(selection).packed }, signal)).u32(8);
  }

  /** Ask for the owner afterwards: the server ignores a request with an old time. */
  async own(selection: number, owner: number, time = 0, signal?: AbortSignal): Promise<void> {
    await this.connection.done({ opcode: 22, body: new Packer().u32(owner, selection, time).packed }, signal);
  }

  /** The owner answers with a `selectionNotify` event. */
  async convert({ requestor, selection, target, property, time }: Conversion, signal?: AbortSignal): Promise<void> {
    const body = new Packer().u32(requestor, selection, target, property, time).packed;
    await this.connection.done({ opcode: 24, body }, signal);
  }

  /** Answers a request for the content; a property of 0 refuses. */
  async answer(request: SelectionRequestEvent, property: number, signal?: AbortSignal): Promise<void> {
    const { time, requestor, selection, target } = request;
    const event = new Packer().u8(31).u8(0).u16(0).u32(time, requestor, selection, target, property).skip(8).packed;
    const body = new Packer().u32(requestor, 0).bytes(event).packed;
    await this.connection.done({ opcode: 25, detail: 0, body }, signal);
  }

  /** From now on, a change of the owner is reported as a `selectionOwner` event. */
  async watch(window: number, selection: number, signal?: AbortSignal): Promise<void> {
    const [select, everyChange] = [2, 7];
    const body = new Packer().u32(window, selection, everyChange).packed;
    await this.connection.done(this.connection.extend('XFIXES', { minor: select, body }), signal);
  }
}
