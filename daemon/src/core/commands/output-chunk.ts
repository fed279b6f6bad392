/** A piece of output as it is followed: read once, and made into a line once, for all who are at the same place. */
import type { StreamName } from '../../platform/spawn.ts';

export class OutputChunk {
  readonly kind = 'bytes';
  readonly #forms = new Map<string, unknown>();

  constructor(
    readonly stream: StreamName,
    readonly offset: number,
    readonly bytes: Uint8Array,
  ) {}

  /** What readers make of it, by its name: made for the first of them. */
  form<Form>(name: string, make: () => Form): Form {
    if (!this.#forms.has(name)) this.#forms.set(name, make());
    return this.#forms.get(name) as Form;
  }
}

/** Both streams, and those who have just fallen behind. */
const mostRecent = 4;

/** The pieces that were read last. They are held by those who follow, not by this. */
export class RecentChunks {
  #recent: { readonly key: string; readonly chunk: WeakRef<OutputChunk> }[] = [];

  find(key: string): OutputChunk | undefined {
    return this.#recent.find((entry) => entry.key === key)?.chunk.deref();
  }

  add(key: string, chunk: OutputChunk): void {
    this.#recent = [{ key, chunk: new WeakRef(chunk) }, ...this.#recent.slice(0, mostRecent - 1)];
  }
}
