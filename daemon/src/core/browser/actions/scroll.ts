/** Scrolls a page, or the part of the page that scrolls. */
import type { Browser, PageCallOptions, PageResult } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import { actionOptions } from './click.ts';
import { settled, type Place } from './outcome.ts';

export interface Scrolled {
  readonly place: Place;
  /** Negative for up. */
  readonly pixels: number;
  readonly isAtEnd: boolean;
}

/** `amount` is in pixels; null for the height of the part. */
export async function scroll(
  browser: Browser,
  { amount, ...options }: PageCallOptions & { readonly amount: number | null },
): Promise<PageResult<Scrolled>> {
  return await browser.onPage(actionOptions(options), async (call) => {
    const [main] = await call.page.frames(call.signal);
    if (!main) throw new DocumentGone('the page has no document');
    let moved = { pixels: 0, isAtEnd: true };
    const place = await settled(call, async () => {
      moved = await call.page.call<typeof moved>(main, 'scroll', { amount }, call.signal);
    });
    return { place, ...moved };
  });
}
