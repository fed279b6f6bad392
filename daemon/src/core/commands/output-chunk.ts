/** Output chunks that are read and rendered once for all followers at the same offset. */
import type { StreamName } from '../../kit/types/stream-name.ts';

/** Size limit of a chunk. A chunk holds bytes of one stream. */
export const chunkBytes = 64 * 1024;

/** How a chunk is rendered for followers. */
export interface Rendering {
  /** Unique among renderings, because it is part of the cache key. */
  readonly name: string;
  /** True cuts only between whole UTF-8 sequences. False passes every byte on as it arrives. */
  readonly wholeCharacters: boolean;
  /**
   * Writes the rendered chunk to the start of `into` and returns its length. The bytes are valid during this call only.
   */
  render(
    piece: { readonly stream: StreamName; readonly offset: number; readonly bytes: Uint8Array },
    into: Buffer,
  ): number;
}

/** The bytes as they are, for a message that copies them. */
export const plainBytes: Rendering = {
  name: 'plain',
  wholeCharacters: false,
  render({ bytes }, into) {
    into.set(bytes);
    return bytes.length;
  },
};

/** Upper bound of a rendered chunk: six bytes for each byte of output, plus the words around them. */
const renderedBytes = chunkBytes * 6 + 1024;
/** Spare buffers kept for reuse, which is more than one or two readers use at a time. */
const maxSpare = 4;

/** A buffer pool for chunks. Allocating a new buffer for each chunk would cost more than reading and rendering it. */
export class OutputMemory {
  readonly #spare: Buffer[] = [];
  #reading: Buffer | null = null;

  /** Holds the bytes of one chunk until they are rendered. */
  get reading(): Buffer {
    return (this.#reading ??= Buffer.allocUnsafeSlow(chunkBytes));
  }

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(renderedBytes);
  }

  giveBack(buffer: Buffer): void {
    if (this.#spare.length < maxSpare) this.#spare.push(buffer);
  }
}

export class OutputChunk {
  readonly kind = 'bytes';
  #users = 0;

  constructor(
    readonly stream: StreamName,
    readonly offset: number,
    /** The offset after the last byte. */
    readonly next: number,
    /** Valid while the chunk is in use. */
    readonly rendered: Uint8Array,
    private readonly onUnused: () => void,
  ) {}

  get isUsed(): boolean {
    return this.#users > 0;
  }

  use(): Disposable {
    this.#users += 1;
    return {
      [Symbol.dispose]: () => {
        this.#users -= 1;
        if (this.#users === 0) this.onUnused();
      },
    };
  }
}

/** Covers both streams and followers that have just fallen behind. */
const maxRecent = 4;

/** The chunks that were read most recently. */
export class RecentChunks {
  #recent: { readonly key: string; readonly chunk: OutputChunk }[] = [];

  /** Returns the chunk only while a follower uses it. */
  find(key: string): OutputChunk | undefined {
    return this.#recent.find((entry) => entry.key === key && entry.chunk.isUsed)?.chunk;
  }

  add(key: string, chunk: OutputChunk): void {
    this.#recent = [{ key, chunk }, ...this.#recent.filter((entry) => entry.chunk.isUsed).slice(0, maxRecent - 1)];
  }
}
