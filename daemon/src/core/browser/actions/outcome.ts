/** Waits for what an action begins in its tab: a navigation, a download, another tab. */
import { CdpClosed, CdpRefusal } from '../../../protocols/cdp-errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { PageCall } from '../browser.ts';
import { DocumentGone } from '../failures.ts';
import type { Frame } from '../frames.ts';
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
/** Time for the browser to report what has happened before. */
const catchUpMs = 500;
/** Time for a busy page to report its title. */
const titleMs = 500;

/** The tab has closed after the press of the pointer, so most likely because of the press. */
export class ClosedByPress extends Error {
  override readonly name = 'ClosedByPress';
}

/**
 * Judges what a press has thrown. Returns when the press has only replaced the document of the frame. Throws
 * `ClosedByPress` when the tab has gone, and any other error as it is.
 */
export async function judgePress({ browser, page }: PageCall, frame: Frame, error: unknown): Promise<void> {
  // A page that closes can refuse an answer before the browser reports that the tab has gone.
  if (error instanceof CdpRefusal || error instanceof DocumentGone) await browser.catchUp(catchUpMs);
  if (browser.isOpen && !browser.hasTab(page.targetId)) throw new ClosedByPress(String(error));
  if (error instanceof DocumentGone) return;
  if (!(error instanceof CdpClosed && browser.isOpen && frame.parentId !== null)) throw error;
}

/** Throws what the action throws, unless the action has closed its own tab. */
export async function settled(call: PageCall, act: () => Promise<void>): Promise<Place> {
  const { browser, page, effects, signal } = call;
  const before = { tabId: page.targetId, ...knownPlace(call), isClosed: false };
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
  const place = await placeOf(call, titleMs);
  return browser.hasTab(page.targetId) ? { ...before, ...place } : { ...before, isClosed: true };
}

/** Waits while the condition holds, but not longer than this. */
export async function within({ effects, signal }: PageCall, maxMs: number, isUnfinished: () => boolean): Promise<void> {
  using brief = new Deadline(maxMs, signal);
  while (isUnfinished() && !brief.passed) await effects.changed(brief.signal);
}
