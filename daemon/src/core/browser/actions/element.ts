/** Finds the element that a call names by a ref, a CSS selector, its role and name, its label, its text or a point. */
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Point } from '../../../kit/types/geometry.ts';
import type { PageCall } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import type { RefTarget } from '../page.ts';
import { revealRoots } from '../snapshot/closed-roots.ts';
import { describeQuery, type Locator, type Match } from '../snapshot/find.ts';
import { locateOn } from '../snapshot/snapshot.ts';
import { changed } from '../snapshot/wait.ts';
import { shortened } from '../url.ts';
import { pause } from './waiting.ts';

/** A point counts from the left top corner of the visible part of the page, in CSS pixels. */
export type ElementName =
  | { readonly ref: string }
  | { readonly selector: string }
  | { readonly locator: Locator }
  | { readonly point: Point };

type Found =
  | { readonly kind: 'found'; readonly number: number }
  /** `hasCandidates`: elements may hide it in closed shadow roots that nothing has looked for yet. */
  | { readonly kind: 'missing'; readonly hasCandidates?: boolean }
  | { readonly kind: 'invalid' };

const retryMs = 100;
/** Changes in frames and shadow roots do not wake the wait for a locator. */
const lookAgainMs = 250;
/** Matches in the message about several. */
const maxShown = 5;
/** Time to look for closed shadow roots before the next look at the page. */
const revealMs = 1000;

/** The name of the element in error messages. */
export function subjectOf(name: ElementName): string {
  if ('point' in name) return `the point ${name.point.x}, ${name.point.y}`;
  if ('locator' in name) return describeQuery(name.locator);
  return 'ref' in name ? `ref ${name.ref}` : `selector ${JSON.stringify(shortened(name.selector))}`;
}

/**
 * A selector or a locator waits until an element matches. Throws `ref_stale`, and `bad_argument`, also for a locator
 * that several elements match.
 */
export async function findElement(call: PageCall, name: ElementName): Promise<RefTarget> {
  const { page, signal, timeoutMs } = call;
  if ('ref' in name) return await page.frameOf(name.ref, signal);
  if ('point' in name) return await documentOf(call);
  for (let looks = 0; ; looks++) {
    try {
      const found = 'locator' in name ? await locateNow(call, name.locator) : await findNow(call, name.selector);
      if (found !== null) return found;
      if ('locator' in name) await changed(page, lookAgainMs, signal);
      else await pause(retryMs, signal);
    } catch (error) {
      if (!signal.aborted || looks === 0) throw error;
    }
    if (!signal.aborted) continue;
    throw new CoreError('bad_argument', `no element matched ${subjectOf(name)} within ${timeoutMs / 1000} s`, {
      hint: 'locator' in name ? 'Look for the element in a snapshot.' : 'Use a ref of a snapshot.',
      next: { operation: 'browser.snapshot' },
    });
  }
}

/** The element that a point of the page is on, which contains all others. */
async function documentOf({ page, signal }: PageCall): Promise<RefTarget> {
  const [frame] = await page.frames(signal);
  if (!frame) throw new DocumentGone('the page has no document');
  const root = await page.call<{ number: number } | null>(frame, 'page', {}, signal);
  if (root === null)
    throw new CoreError('bad_argument', 'the document of the page has no element', {
      next: { operation: 'browser.navigate' },
    });
  return { frame, number: root.number };
}

/** Null when nothing matches yet. */
async function locateNow({ page, signal }: PageCall, locator: Locator): Promise<RefTarget | null> {
  const matches = await locateOn(page, locator, signal);
  const [first] = matches;
  if (matches.length > 1) throw severalMatch(locator, matches);
  return first?.ref ? await page.frameOf(first.ref, signal) : null;
}

function severalMatch(locator: Locator, matches: readonly Match[]): CoreError {
  const shown = matches.slice(0, maxShown);
  const list = shown.map(({ role, name, ref, path }) => {
    const place = path.length > 0 ? ` in ${path.at(-1)}` : '';
    return `${role} ${JSON.stringify(shortened(name))}${place} (ref ${ref})`;
  });
  const more = matches.length > maxShown ? ` and ${matches.length - maxShown} more` : '';
  return new CoreError(
    'bad_argument',
    `${matches.length} elements match ${describeQuery(locator)}: ${list.join(', ')}${more}`,
    {
      hint: 'Pass the ref of one of them, or more of its name.',
      facts: { matches: shown.map(({ role, name, ref, path }) => ({ role, name, ref, path })), total: matches.length },
    },
  );
}

/** The main document first, then the other frames in their order. */
async function findNow({ page, signal }: PageCall, selector: string): Promise<RefTarget | null> {
  for (const frame of await page.frames(signal)) {
    // When another document takes the place, the next attempt looks at that one.
    const look = async (): Promise<Found> =>
      (await nullOn(DocumentGone, page.call<Found>(frame, 'find', { selector }, signal))) ?? { kind: 'missing' };
    let found = await look();
    if (
      found.kind === 'missing' &&
      found.hasCandidates &&
      (await revealRoots(page.worlds, frame, performance.now() + revealMs, signal))
    )
      found = await look();
    if (found.kind === 'found') return { frame, number: found.number };
    if (found.kind === 'missing') continue;
    throw new CoreError('bad_argument', `${JSON.stringify(shortened(selector))} is not a valid CSS selector`, {
      hint: 'Pass a CSS selector such as "#save" or "form button", or a ref of a snapshot.',
      next: { operation: 'browser.snapshot' },
    });
  }
  return null;
}
