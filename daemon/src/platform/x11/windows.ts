/** Requests about windows: the tree, their places and attributes, and what a pager may do with them. */
import type { Point, Size } from '../../kit/types/geometry.ts';
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';

export interface Rectangle extends Point, Size {}

export interface WindowGeometry extends Rectangle {
  readonly border: number;
}

export interface WindowAttributes {
  readonly isMapped: boolean;
  /** Mapped, and so are all its ancestors. */
  readonly isViewable: boolean;
  /** Window managers leave such a window alone: menus, tooltips. */
  readonly isUnmanaged: boolean;
  /** Shows nothing and only takes input. */
  readonly isInputOnly: boolean;
}

/** Bits of event masks that this program selects. */
export const eventMasks = { structure: 1 << 17, substructure: 1 << 19, redirect: 1 << 20, property: 1 << 22 } as const;

export class WindowRequests {
  constructor(
    private readonly connection: X11Connection,
    readonly root: number,
  ) {}

  /** The children of a window, the lowest first. */
  async children(window: number, signal?: AbortSignal): Promise<number[]> {
    const reply = await this.connection.reply(about(15, window), signal);
    return reply.u32s(32, reply.u16(16));
  }

  async parent(window: number, signal?: AbortSignal): Promise<number> {
    return (await this.connection.reply(about(15, window), signal)).u32(12);
  }

  async attributes(window: number, signal?: AbortSignal): Promise<WindowAttributes> {
    const reply = await this.connection.reply(about(3, window), signal);
    const [mapState, isUnmanaged, isInputOnly] = [reply.u8(26), reply.u8(27) === 1, reply.u16(12) === 2];
    return { isMapped: mapState !== 0, isViewable: mapState === 2, isUnmanaged, isInputOnly };
  }

  /** Relative to the parent; the size is without the border. */
  async geometry(window: number, signal?: AbortSignal): Promise<WindowGeometry> {
    const reply = await this.connection.reply(about(14, window), signal);
    const [width, height, border] = [reply.u16(16), reply.u16(18), reply.u16(20)];
    return { x: reply.i16(12), y: reply.i16(14), width, height, border };
  }

  /** Position of the window's origin on the screen. */
  async origin(window: number, signal?: AbortSignal): Promise<{ readonly x: number; readonly y: number }> {
    const body = new Packer().u32(window, this.root).i16(0).i16(0).packed;
    const reply = await this.connection.reply({ opcode: 40, body }, signal);
    return { x: reply.i16(12), y: reply.i16(14) };
  }

  /** An invisible window for owning selections and receiving events. */
  create(eventMask = 0): number {
    const window = this.connection.newId();
    const [inputOnly, eventMaskBit, copyFromParent] = [2, 0x800, 0];
    const body = new Packer().u32(window, this.root).i16(-10).i16(-10).u16(1).u16(1).u16(0).u16(inputOnly);
    body.u32(copyFromParent, eventMaskBit, eventMask);
    this.connection.send({ opcode: 1, detail: 0, body: body.packed });
    return window;
  }

  destroy(window: number): void {
    this.connection.send(about(4, window));
  }

  /** Replaces the events that this connection receives about the window. */
  async select(window: number, eventMask: number, signal?: AbortSignal): Promise<void> {
    const eventMaskBit = 0x800;
    const body = new Packer().u32(window, eventMaskBit, eventMask).packed;
    await this.connection.done({ opcode: 2, body }, signal);
  }

  async map(window: number, signal?: AbortSignal): Promise<void> {
    await this.connection.done(about(8, window), signal);
  }

  async unmap(window: number, signal?: AbortSignal): Promise<void> {
    await this.connection.done(about(10, window), signal);
  }

  async raise(window: number, signal?: AbortSignal): Promise<void> {
    const [stackModeBit, above] = [0x40, 0];
    const body = new Packer().u32(window).u16(stackModeBit).skip(2).u32(above).packed;
    await this.connection.done({ opcode: 12, body }, signal);
  }

  async setFocus(window: number, signal?: AbortSignal): Promise<void> {
    const [revertToParent, currentTime] = [2, 0];
    const body = new Packer().u32(window, currentTime).packed;
    await this.connection.done({ opcode: 42, detail: revertToParent, body }, signal);
  }

  /** The window with the keyboard; 0 for none, 1 for the one under the pointer. */
  async focus(signal?: AbortSignal): Promise<number> {
    return (await this.connection.reply({ opcode: 43 }, signal)).u32(8);
  }

  /** Asks the window manager through the root window, as EWMH and ICCCM describe. */
  async tellManager(window: number, type: number, values: readonly number[], signal?: AbortSignal): Promise<void> {
    const event = new Packer()
      .u8(33)
      .u8(32)
      .u16(0)
      .u32(window, type, ...values)
      .skip(4 * (5 - values.length)).packed;
    await this.sendEvent(this.root, event, eventMasks.substructure | eventMasks.redirect, signal);
  }

  /** With a mask of 0, the client that created the window receives the event of 32 bytes. */
  async sendEvent(window: number, event: Buffer, mask = 0, signal?: AbortSignal): Promise<void> {
    const body = new Packer().u32(window, mask).bytes(event).packed;
    await this.connection.done({ opcode: 25, detail: 0, body }, signal);
  }
}

function about(opcode: number, window: number) {
  return { opcode, body: new Packer().u32(window).packed };
}
