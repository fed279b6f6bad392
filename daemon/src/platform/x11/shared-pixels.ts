/** Reads pixels through memory that the X server shares, which spares the copy through the socket. */
import { Mutex } from '../../kit/mutex.ts';
import { X11Refusal } from '../../protocols/x11-errors.ts';
import type { X11Connection } from './connection.ts';
import { Packer } from './message.ts';
import { createSegment, type SharedSegment } from './shared-memory.ts';
import type { Rectangle } from './windows.ts';

interface Attached {
  readonly id: number;
  readonly segment: SharedSegment;
}

export class SharedPixels {
  readonly #turns = new Mutex();
  #attached: Attached | null = null;
  /** A server in another container or of another account cannot attach. */
  #isRefused = false;

  constructor(private readonly connection: X11Connection) {
    void connection.closed.then(() => this.#close());
  }

  /** Null when the server shares no memory with this process. */
  async read(drawable: number, area: Rectangle, signal?: AbortSignal): Promise<Buffer | null> {
    const { bitsPerPixel } = this.connection.setup.screen;
    const length = (((area.width * bitsPerPixel) / 8 + 3) & ~3) * area.height;
    if (this.#isRefused || !this.connection.has('MIT-SHM') || !(await this.#turns.acquire(signal))) return null;
    try {
      const attached = await this.#segment(length);
      return attached && (await this.#fill(attached, drawable, { area, length }));
    } finally {
      this.#turns.release();
    }
  }

  /** The signal only ends the wait before: the server writes into the segment whether or not the caller waits. */
  async #fill(
    { id, segment }: Attached,
    drawable: number,
    { area, length }: { readonly area: Rectangle; readonly length: number },
  ): Promise<Buffer> {
    const [zPixmap, allPlanes, getImage] = [2, 0xffffffff, 4];
    const body = new Packer().u32(drawable).i16(area.x).i16(area.y).u16(area.width).u16(area.height);
    body.u32(allPlanes).u8(zPixmap).skip(3).u32(id, 0);
    await this.connection.reply(this.connection.extend('MIT-SHM', { minor: getImage, body: body.packed }));
    return Buffer.from(segment.bytes.subarray(0, length));
  }

  async #segment(length: number): Promise<Attached | null> {
    if (this.#attached && this.#attached.segment.bytes.length >= length) return this.#attached;
    this.#detach();
    const segment = createSegment(length);
    if (!segment) return this.#refuse();
    const id = this.connection.newId();
    const attach = new Packer().u32(id, segment.id, 0).packed;
    try {
      await this.connection.done(this.connection.extend('MIT-SHM', { minor: 1, body: attach }));
    } catch (error) {
      segment.close();
      if (error instanceof X11Refusal) return this.#refuse();
      throw error;
    } finally {
      segment.forget();
    }
    this.#attached = { id, segment };
    return this.#attached;
  }

  /** Waits for a copy under way, because reading a detached segment would end the process. */
  async #close(): Promise<void> {
    await this.#turns.acquire();
    this.#isRefused = true;
    this.#detach();
    this.#turns.release();
  }

  #refuse(): null {
    this.#isRefused = true;
    return null;
  }

  #detach(): void {
    if (!this.#attached) return;
    const { id, segment } = this.#attached;
    this.#attached = null;
    const body = new Packer().u32(id).packed;
    this.connection.send(this.connection.extend('MIT-SHM', { minor: 2, body }));
    segment.close();
  }
}
