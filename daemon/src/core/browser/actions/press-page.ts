/** Presses keys on whatever has the focus of a page. */
import type { Browser, PageCallOptions, PageResult } from '../browser.ts';
import { actionOptions } from './click.ts';
import { findElement } from './element.ts';
import { chordNamed } from './keyboard.ts';
import { settled, type Place } from './outcome.ts';
import { pressFocused } from './press.ts';
import { inTurn } from './waiting.ts';

/** Throws `bad_argument` for a text that is not a key or a chord. */
export async function pressOnPage(
  browser: Browser,
  { keys, ...options }: PageCallOptions & { readonly keys: readonly string[] },
): Promise<PageResult<Place>> {
  const chords = keys.map(chordNamed);
  return await browser.onPage(actionOptions(options), async (call) => {
    const whole = await findElement(call, { point: { x: 0, y: 0 } });
    return await settled(call, () => inTurn(call, 'input', () => pressFocused(call, whole, chords)));
  });
}
