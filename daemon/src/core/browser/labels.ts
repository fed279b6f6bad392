/** Draws the refs of a page over their elements while a picture is taken. */
import { readRef } from './frames.ts';
import type { Page } from './page.ts';

/** More labels than a picture can show; the rest is left out. */
const maxLabels = 1000;

export async function withLabels<T>(
  page: Page,
  refs: readonly string[],
  nameOf: (ref: string) => string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const parts = refs.slice(0, maxLabels).flatMap((ref) => {
    const known = readRef(ref);
    return known === null ? [] : [{ ...known, ref }];
  });
  const frames = (await page.frames(signal)).filter(({ tag }) => parts.some((part) => part.tag === tag));
  try {
    await Promise.all(
      frames.map((frame) => {
        const own = parts.filter(({ tag }) => tag === frame.tag);
        const labels = own.map(({ number, ref }) => ({ number, text: nameOf(ref) }));
        return page.call(frame, 'showLabels', { labels }, signal);
      }),
    );
    return await work();
  } finally {
    // A frame that has gone meanwhile has no labels any more.
    await Promise.allSettled(frames.map((frame) => page.call(frame, 'hideLabels', {}, signal)));
  }
}
