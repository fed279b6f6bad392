/** Gives unused keys of the keyboard the keysyms that the layout lacks, and takes them back afterwards. */
import { CoreError } from '../../../kit/errors.ts';
import type { KeyboardRequests } from '../../../platform/x11/keyboard.ts';
import type { Layout } from './layout.ts';

/** Programs look keysyms up when they handle an event, so a key keeps its keysym for this time after its last use. */
const restoreAfterMs = 2_000;
/** One keysym for each of two groups and two levels, so that neither modifiers nor groups change it. */
const keysymsPerKeycode = 4;

export class SpareKeys {
  /** By keycode, the one used longest ago first. */
  readonly #assigned = new Map<number, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly keyboard: KeyboardRequests,
    private readonly readLayout: (signal?: AbortSignal) => Promise<Layout>,
  ) {}

  get keycodes(): ReadonlySet<number> {
    return new Set(this.#assigned.keys());
  }

  /** The number of keysyms that can be assigned at the same time. */
  capacity(layout: Layout): number {
    this.#forgetOthers(layout);
    return layout.spareKeycodes.length + this.#assigned.size;
  }

  /** Returns the keycode of each keysym. Throws `unavailable` when there are more keysyms than spare keys. */
  async assign(keysyms: readonly number[], layout: Layout): Promise<ReadonlyMap<number, number>> {
    this.#forgetOthers(layout);
    const wanted = new Set(keysyms);
    const kept = [...this.#assigned].filter(([, keysym]) => wanted.has(keysym));
    for (const [, keysym] of kept) wanted.delete(keysym);
    const replaceable = [...this.#assigned.keys()].filter((keycode) => !kept.some(([each]) => each === keycode));
    const free = [...layout.spareKeycodes, ...replaceable];
    if (wanted.size > free.length) throw noSpareKey();
    const added = [...wanted].map((keysym, index): [number, number] => [free[index] ?? 0, keysym]);
    await Promise.all(added.map(([keycode, keysym]) => this.#change(keycode, keysym)));
    for (const [keycode, keysym] of [...kept, ...added]) {
      this.#assigned.delete(keycode);
      this.#assigned.set(keycode, keysym);
    }
    this.restoreLater();
    return new Map([...kept, ...added].map(([keycode, keysym]) => [keysym, keycode]));
  }

  restoreLater(): void {
    clearTimeout(this.#timer);
    if (this.#assigned.size === 0) return;
    // A failure means that the display has gone, and the assignments with it.
    this.#timer = setTimeout(() => void this.restore().catch(() => this.#assigned.clear()), restoreAfterMs);
    this.#timer.unref();
  }

  /** Leaves keys alone that another program has changed since. */
  async restore(signal?: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#assigned.size === 0) return;
    this.#forgetOthers(await this.readLayout(signal));
    const keycodes = [...this.#assigned.keys()];
    this.#assigned.clear();
    await Promise.all(keycodes.map((keycode) => this.#change(keycode, 0, signal)));
  }

  /** A new layout, as by `setxkbmap`, replaces the assignments. */
  #forgetOthers(layout: Layout): void {
    for (const [keycode, keysym] of this.#assigned) {
      if (!layout.isOnly(keycode, keysym)) this.#assigned.delete(keycode);
    }
  }

  async #change(firstKeycode: number, keysym: number, signal?: AbortSignal): Promise<void> {
    const keysyms = Array.from({ length: keysymsPerKeycode }, () => keysym);
    await this.keyboard.change({ firstKeycode, keysymsPerKeycode, keysyms }, signal);
  }
}

function noSpareKey(): CoreError {
  return new CoreError('unavailable', 'the keyboard layout has no unused keys for characters that it lacks', {
    isRetryable: false,
    hint: 'Type the text through the clipboard.',
  });
}
