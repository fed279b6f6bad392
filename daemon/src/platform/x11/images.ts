/** Reads the pixels of the screen and the picture of the pointer. */
import type { Size } from '../../kit/types/geometry.ts';
import type { PixelPicture } from '../picture/picture.ts';
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';
import type { SharedPixels } from './shared-pixels.ts';
import type { Rectangle } from './windows.ts';

/** The picture of the pointer at its place on the screen. */
export interface CursorImage extends Rectangle {
  /** Four bytes a pixel: blue, green, red, alpha; colours are multiplied by alpha. */
  readonly bytes: Buffer;
}

export class ImageRequests {
  constructor(
    private readonly connection: X11Connection,
    private readonly root: number,
    private readonly shared: SharedPixels,
  ) {}

  /** Rejects with `X11Refusal` when the area is not on the screen. */
  async read(area: Rectangle, signal?: AbortSignal): Promise<PixelPicture> {
    const { width, height } = area;
    const bytes = (await this.shared.read(this.root, area, signal)) ?? (await this.#readBySocket(area, signal));
    return { width, height, bytes: this.#asBgrx(bytes, area) };
  }

  /** Throws `X11Unsupported` without XFIXES. */
  async cursor(signal?: AbortSignal): Promise<CursorImage> {
    const reply = await this.connection.reply(this.connection.extend('XFIXES', { minor: 4 }), signal);
    const [width, height] = [reply.u16(12), reply.u16(14)];
    const [x, y] = [reply.i16(8) - reply.u16(16), reply.i16(10) - reply.u16(18)];
    return { x, y, width, height, bytes: reply.slice(32, 4 * width * height) };
  }

  async #readBySocket({ x, y, width, height }: Rectangle, signal?: AbortSignal): Promise<Buffer> {
    const [zPixmap, allPlanes] = [2, 0xffffffff];
    const body = new Packer().u32(this.root).i16(x).i16(y).u16(width).u16(height).u32(allPlanes).packed;
    const reply = await this.connection.reply({ opcode: 73, detail: zPixmap, body }, signal);
    return reply.bytes.subarray(32);
  }

  #asBgrx(bytes: Buffer, { width, height }: Rectangle): Buffer {
    const { bitsPerPixel, redMask, greenMask, blueMask } = this.connection.setup.screen;
    if (bitsPerPixel === 32 && redMask === 0xff0000 && greenMask === 0xff00 && blueMask === 0xff) return bytes;
    return convert(bytes, { width, height, bytesPerPixel: bitsPerPixel / 8, masks: [blueMask, greenMask, redMask] });
  }
}

interface PixelLayout extends Size {
  readonly bytesPerPixel: number;
  /** Bit masks of blue, green and red. */
  readonly masks: readonly number[];
}

/** For servers of 16 bits a pixel, or with another order of the colours. */
export function convert(bytes: Buffer, { width, height, bytesPerPixel, masks }: PixelLayout): Buffer {
  const out = Buffer.alloc(width * height * 4);
  const rowBytes = (width * bytesPerPixel + 3) & ~3;
  const channels = masks.map((mask) => ({
    mask,
    shift: Math.clz32(mask & -mask) ^ 31,
    max: mask >>> (Math.clz32(mask & -mask) ^ 31),
  }));
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 4) {
      const pixel = bytes.readUIntLE(y * rowBytes + x * bytesPerPixel, bytesPerPixel);
      channels.forEach(({ mask, shift, max }, index) => {
        out[to + index] = Math.round((((pixel & mask) >>> shift) * 255) / max);
      });
    }
  }
  return out;
}
