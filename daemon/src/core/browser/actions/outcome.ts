/** Waits for what an action begins in its tab: a navigation, a download, another tab. */
import { Deadline } from '../../../kit/deadline.ts';
import type { PageCall } from '../browser.ts';
import { knownPlace, placeOf, type UrlAndTitle } from '../place.ts';

/** The page after the action. */
export interface Place extends UrlAndTitle {
  readonly tabId: string;
  /** True when the action has closed the tab. */
  readonly isClosed: boolean;
}

/** Time for a download to end, which continues after the answer. Most files of a page arrive by then. */
const downloadMs = 5000;
/** Time for a navigation or a download to begin. */
export const beginMs = 500;
/** Time for a new tab to get its URL. */
const tabMs = 1000;
/** Time for a busy page to report its title. */
const titleMs = 500;

/** The tab has closed after the press of the pointer, so most likely because of the press. */
export class ClosedByPress extends Error {
  override readonly name = 'ClosedByPress';
}

/** Throws what the action throws, unless the action has closed its own tab. */
export async function settled(call: PageCall, act: () => Promise<void>): Promise<Place> {
  const { page, effects, signal } = call;
  const before = { tabId: page.targetId, ...knownPlace(page), isClosed: false };
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ClosedByPress)) throw error;
    return { ...before, isClosed: true };
  }
  await within(call, beginMs, () => effects.isRequested);
  while (effects.isNavigating && !signal.aborted) await effects.changed(signal);
  await within(call, beginMs, () => effects.hasStopped);
  await within(call, downloadMs, () => effects.isDownloading);
  await within(call, tabMs, () => effects.openedTabs.some(({ url }) => url === ''));
  if (!page.browser.hasTab(page.targetId)) return { ...before, isClosed: true };
  return { ...before, ...(await placeOf(page, titleMs, signal)) };
}

/** Waits while the condition holds, but not longer than this. */
export async function within({ effects, signal }: PageCall, maxMs: number, isUnfinished: () => boolean): Promise<void> {
  using brief = new Deadline(maxMs, signal);
  while (isUnfinished() && !brief.passed) await effects.changed(brief.signal);
}
