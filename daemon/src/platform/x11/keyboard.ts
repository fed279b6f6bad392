/** Requests about the keyboard: what the keys mean, which are held, and changes of both. */
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';

export interface KeyboardMapping {
  readonly firstKeycode: number;
  readonly keysymsPerKeycode: number;
  /** The keysyms of one keycode after the other; 0 for none. */
  readonly keysyms: readonly number[];
}

export class KeyboardRequests {
  constructor(private readonly connection: X11Connection) {}

  async mapping(signal?: AbortSignal): Promise<KeyboardMapping> {
    const { minKeycode: first, maxKeycode: last } = this.connection.setup;
    const count = last - first + 1;
    const body = new Packer().u8(first).u8(count).skip(2).packed;
    const reply = await this.connection.reply({ opcode: 101, body }, signal);
    const keysymsPerKeycode = reply.u8(1);
    return { firstKeycode: first, keysymsPerKeycode, keysyms: reply.u32s(32, count * keysymsPerKeycode) };
  }

  /** Gives consecutive keycodes new keysyms. */
  async change({ firstKeycode, keysymsPerKeycode, keysyms }: KeyboardMapping, signal?: AbortSignal): Promise<void> {
    const count = keysyms.length / keysymsPerKeycode;
    const body = new Packer()
      .u8(firstKeycode)
      .u8(keysymsPerKeycode)
      .skip(2)
      .u32(...keysyms).packed;
    await this.connection.done({ opcode: 100, detail: count, body }, signal);
  }

  /** The keycodes of each of the eight modifiers, Shift first; 0 for none. */
  async modifiers(signal?: AbortSignal): Promise<number[][]> {
    const reply = await this.connection.reply({ opcode: 119 }, signal);
    const perModifier = reply.u8(1);
    return Array.from({ length: 8 }, (_, index) => [...reply.slice(32 + index * perModifier, perModifier)]);
  }

  /** A bit for each keycode that is held. */
  async held(signal?: AbortSignal): Promise<Buffer> {
    return (await this.connection.reply({ opcode: 44 }, signal)).slice(8, 32);
  }
}
