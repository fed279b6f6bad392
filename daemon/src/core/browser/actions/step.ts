/** Moves a slider or spin button to a value with the arrow keys, because pages let nothing else set it. */
import type { PageCall } from '../browser.ts';
import type { RefTarget } from '../page.ts';
import { chordNamed, PageKeyboard, type Chord } from './keyboard.ts';

/** Keys that raise and lower a value. A page may know only one of the pairs, or turn a pair around. */
const pairs = [
  ['ArrowUp', 'ArrowDown'],
  ['ArrowRight', 'ArrowLeft'],
].map((names) => names.map(chordNamed) as [Chord, Chord]);
/** Presses between two looks at the value. */
const maxPresses = 100;

/** Ends where no further step leads closer. The page script has given the element the focus. */
export async function stepTo(call: PageCall, target: RefTarget, wanted: number): Promise<void> {
  const slider = new Slider(call, target);
  for (const [up, down] of pairs) {
    const before = await slider.now();
    // The other key counts where the first one leads beyond a limit, because the page has turned the pair around.
    for (const key of before === null || before < wanted ? [up, down] : [down, up]) {
      const after = await slider.press(key, 1);
      if (after === before || after === null) continue;
      const raises = before === null || after > before ? key : key === up ? down : up;
      await approach(slider, {
        raises,
        lowers: raises === up ? down : up,
        size: Math.abs(after - (before ?? 0)),
        wanted,
        now: after,
      });
      return;
    }
  }
}

async function approach(
  slider: Slider,
  {
    raises,
    lowers,
    size,
    wanted,
    ...start
  }: { raises: Chord; lowers: Chord; size: number; wanted: number; now: number },
): Promise<void> {
  let { now } = start;
  for (;;) {
    const presses = Math.min(maxPresses, Math.floor(Math.abs(wanted - now) / size + 1e-6));
    if (presses === 0) return;
    const last = now;
    now = (await slider.press(now < wanted ? raises : lowers, presses)) ?? last;
    if (Math.abs(wanted - now) >= Math.abs(wanted - last)) return;
  }
}

class Slider {
  readonly #keyboard: PageKeyboard;

  constructor(
    private readonly call: PageCall,
    private readonly target: RefTarget,
  ) {
    this.#keyboard = new PageKeyboard(call.page.session);
  }

  /** Null while the element has no value. */
  async now(): Promise<number | null> {
    const { page, signal } = this.call;
    return (await page.callOn<{ now: number | null }>(this.target, 'position', {}, signal)).now;
  }

  /** Returns the value afterwards. */
  async press(chord: Chord, times: number): Promise<number | null> {
    const presses = Array.from({ length: times }, () => this.#keyboard.press(chord, this.call.signal));
    await Promise.all(presses);
    return await this.now();
  }
}
