/** A piece of output as it is followed: read and rendered once, for all who are at the same place. */
import type { StreamName } from '../../platform/spawn.ts';

/** Of one stream at most. */
export const chunkBytes = 64 * 1024;

/** What followers are sent for a piece of output. */
export interface Rendering {
  /** Unlike that of any other. */
  readonly name: string;
  /** True cuts only between whole UTF-8 sequences; false hands every byte on as it comes. */
  readonly wholeCharacters: boolean;
  /** Writes it to the start of `into`, and tells its length; the bytes of the piece are lent for this call. */
  render(
    piece: { readonly stream: StreamName; readonly offset: number; readonly bytes: Uint8Array },
    into: Buffer,
  ): number;
}

/** What a rendered piece may take: six bytes for each of its own, and some words around them. */
const renderedBytes = chunkBytes * 6 + 1024;
/** Kept for those who come next: more than a reader or two ever have in hand. */
const mostSpare = 4;

/** The memory of all pieces. New memory for each of them would cost more than reading and rendering it. */
export class OutputMemory {
  readonly #spare: Buffer[] = [];
  #reading: Buffer | null = null;

  /** For the bytes of one piece, until they are rendered. */
  get reading(): Buffer {
    return (this.#reading ??= Buffer.allocUnsafeSlow(chunkBytes));
  }

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(renderedBytes);
  }

  giveBack(buffer: Buffer): void {
    if (this.#spare.length < mostSpare) this.#spare.push(buffer);
  }
}

export class OutputChunk {
  readonly kind = 'bytes';
  #users = 0;

  constructor(
    readonly stream: StreamName,
    readonly offset: number,
    /** The offset behind it. */
    readonly next: number,
    /** Holds while somebody uses it. */
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

/** Both streams, and those who have just fallen behind. */
const mostRecent = 4;

/** The pieces that were read last. */
export class RecentChunks {
  #recent: { readonly key: string; readonly chunk: OutputChunk }[] = [];

  /** One that somebody uses. */
  find(key: string): OutputChunk | undefined {
    return this.#recent.find((entry) => entry.key === key && entry.chunk.isUsed)?.chunk;
  }

  add(key: string, chunk: OutputChunk): void {
    this.#recent = [{ key, chunk }, ...this.#recent.filter((entry) => entry.chunk.isUsed).slice(0, mostRecent - 1)];
  }
}
