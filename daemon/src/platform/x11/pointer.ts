/** The pointer and synthetic input: where the pointer is, and keys, buttons and motion by XTEST. */
import type { Point } from '../../kit/types/geometry.ts';
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';
import type { XRequest } from './requests.ts';

export class InputRequests {
  constructor(
    private readonly connection: X11Connection,
    private readonly root: number,
  ) {}

  async pointer(signal?: AbortSignal): Promise<Point> {
    const reply = await this.connection.reply({ opcode: 38, body: new Packer().u32(this.root).packed }, signal);
    return { x: reply.i16(16), y: reply.i16(18) };
  }

  /** Resolves when the server has moved the pointer. */
  async moveTo(x: number, y: number, signal?: AbortSignal): Promise<void> {
    await this.connection.done(this.#fake({ type: 6, detail: 0, x, y }), signal);
  }

  async button(number: number, isDown: boolean, signal?: AbortSignal): Promise<void> {
    await this.connection.done(this.#fake({ type: isDown ? 4 : 5, detail: number }), signal);
  }

  async key(keycode: number, isDown: boolean, signal?: AbortSignal): Promise<void> {
    await this.connection.done(this.#fake({ type: isDown ? 2 : 3, detail: keycode }), signal);
  }

  /** XTEST FakeInput; motion is absolute. */
  #fake({ type, detail, x = 0, y = 0 }: { type: number; detail: number; x?: number; y?: number }): XRequest {
    const body = new Packer().u8(type).u8(detail).skip(2).u32(0, this.root).skip(8).i16(x).i16(y).skip(8).packed;
    return this.connection.extend('XTEST', { minor: 2, body });
  }
}
