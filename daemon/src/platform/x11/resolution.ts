/** Changes the size of the screen through RandR. */
import type { Size } from '../../kit/types/geometry.ts';
import { X11Unchangeable } from '../../protocols/x11-errors.ts';
import type { X11Connection } from './connection.ts';
import { Packer, type Message } from './message.ts';

export interface SizeRange {
  readonly min: Size;
  readonly max: Size;
}

interface Resources {
  readonly configTimestamp: number;
  readonly outputs: readonly number[];
  readonly modes: readonly ({ readonly id: number } & Size)[];
}

interface Output {
  readonly id: number;
  readonly crtc: number;
  readonly modes: readonly number[];
}

const minors = {
  sizeRange: 6,
  setSize: 7,
  output: 9,
  createMode: 16,
  addMode: 18,
  setCrtc: 21,
  resources: 25,
} as const;

export class ResolutionRequests {
  constructor(
    private readonly connection: X11Connection,
    private readonly root: number,
  ) {}

  async range(signal?: AbortSignal): Promise<SizeRange> {
    const reply = await this.#ask(minors.sizeRange, [this.root], signal);
    return {
      min: { width: reply.u16(8), height: reply.u16(10) },
      max: { width: reply.u16(12), height: reply.u16(14) },
    };
  }

  /** Throws `X11Unchangeable`, or rejects with `X11Refusal`. */
  async set(size: Size, current: Size, signal?: AbortSignal): Promise<void> {
    const resources = readResources(await this.#ask(minors.resources, [this.root], signal));
    const output = await this.#activeOutput(resources, signal);
    const mode = await this.#mode(size, resources, output, signal);
    // Programs must not see the screen between the steps, and no step may be left out: the signal does not count here.
    this.connection.send({ opcode: 36 });
    try {
      await this.#change({ size, current, output, mode, resources });
    } finally {
      this.connection.send({ opcode: 37 });
      await this.connection.sync();
    }
  }

  /** A screen cannot be smaller than what an output shows of it, so the output is off in between. */
  async #change(change: {
    readonly size: Size;
    readonly current: Size;
    readonly output: Output;
    readonly mode: number;
    readonly resources: Resources;
  }): Promise<void> {
    const { size, current, output, mode, resources } = change;
    const show = (mode: number) => this.#show(output, mode, resources);
    const old = resources.modes.find(({ width, height }) => width === current.width && height === current.height);
    await show(0);
    try {
      await this.#resize(size);
      await show(mode);
    } catch (error) {
      await this.#resize(current);
      if (old) await show(old.id);
      throw error;
    }
  }

  async #activeOutput({ outputs, configTimestamp }: Resources, signal?: AbortSignal): Promise<Output> {
    for (const id of outputs) {
      const reply = await this.#ask(minors.output, [id, configTimestamp], signal);
      const [crtcs, modes] = [reply.u16(26), reply.u16(28)];
      const crtc = reply.u32(12) || (crtcs > 0 ? reply.u32(36) : 0);
      if (reply.u8(24) === 0 && crtc !== 0) return { id, crtc, modes: reply.u32s(36 + 4 * crtcs, modes) };
    }
    throw new X11Unchangeable('the X server has no output whose size can change');
  }

  /** An existing mode of the size, or a new one. */
  async #mode(size: Size, { modes }: Resources, output: Output, signal?: AbortSignal): Promise<number> {
    const ofSize = modes.filter(({ width, height }) => width === size.width && height === size.height);
    const usable = ofSize.find(({ id }) => output.modes.includes(id));
    if (usable) return usable.id;
    const id = ofSize[0]?.id ?? (await this.#createMode(size, signal));
    const body = new Packer().u32(output.id, id).packed;
    await this.connection.done(this.connection.extend('RANDR', { minor: minors.addMode, body }), signal);
    return id;
  }

  /** Without blanking at 60 Hz, because no monitor receives the signal. */
  async #createMode({ width, height }: Size, signal?: AbortSignal): Promise<number> {
    const name = Buffer.from(`${width}x${height}`, 'latin1');
    const body = new Packer()
      .u32(this.root, 0)
      .u16(width)
      .u16(height)
      .u32(width * height * 60);
    for (const edge of [width, width, width, 0, height, height, height, name.length]) body.u16(edge);
    body.u32(0).bytes(name);
    const request = this.connection.extend('RANDR', { minor: minors.createMode, body: body.packed });
    return (await this.connection.reply(request, signal)).u32(8);
  }

  async #resize({ width, height }: Size): Promise<void> {
    // 96 dots an inch, so that programs keep the size of their text.
    const [widthMm, heightMm] = [width, height].map((pixels) => Math.max(1, Math.round((pixels * 25.4) / 96)));
    const body = new Packer()
      .u32(this.root)
      .u16(width)
      .u16(height)
      .u32(widthMm ?? 1, heightMm ?? 1).packed;
    await this.connection.done(this.connection.extend('RANDR', { minor: minors.setSize, body }));
  }

  async #show({ id, crtc }: Output, mode: number, { configTimestamp }: Resources): Promise<void> {
    const [currentTime, upright] = [0, 1];
    const body = new Packer().u32(crtc, currentTime, configTimestamp).i16(0).i16(0).u32(mode).u16(upright).skip(2);
    if (mode !== 0) body.u32(id);
    const request = this.connection.extend('RANDR', { minor: minors.setCrtc, body: body.packed });
    const status = (await this.connection.reply(request)).u8(1);
    if (status !== 0) throw new X11Unchangeable(`the X server refused the mode (RandR status ${status})`);
  }

  async #ask(minor: number, values: readonly number[], signal?: AbortSignal): Promise<Message> {
    const body = new Packer().u32(...values).packed;
    return await this.connection.reply(this.connection.extend('RANDR', { minor, body }), signal);
  }
}

function readResources(reply: Message): Resources {
  const [crtcs, outputs, modes] = [reply.u16(16), reply.u16(18), reply.u16(20)];
  const modesAt = 32 + 4 * (crtcs + outputs);
  return {
    configTimestamp: reply.u32(12),
    outputs: reply.u32s(32 + 4 * crtcs, outputs),
    modes: Array.from({ length: modes }, (_, index) => {
      const at = modesAt + 32 * index;
      return { id: reply.u32(at), width: reply.u16(at + 4), height: reply.u16(at + 6) };
    }),
  };
}
