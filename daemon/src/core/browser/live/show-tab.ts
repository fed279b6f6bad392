/** Shows a tab to a client as it changes: the one that is named, or whichever is active. */
import { aborted, Deadline } from '../../../kit/deadline.ts';
import type { PictureSource, ShowPicture } from '../../../kit/types/live-picture.ts';
import type { Browser } from '../browser.ts';
import type { ConnectedBrowser } from '../connected-browser.ts';
import { crashed, noTab, noTabs } from '../failures.ts';
import type { Page } from '../page.ts';
import { SessionWait } from '../session.ts';

interface Shown {
  readonly targetId: string;
  /** Another tab is shown once this one is not the active one any more. */
  readonly isFollowing: boolean;
  readonly show: ShowPicture;
  readonly signal: AbortSignal;
}

/** The source throws `tab_not_found` and `unavailable` when there is nothing to show any more. */
export function tabSource(browser: Browser, tabId: string | null): PictureSource {
  return async (show, signal) =>
    await browser.call({ timeout: Number.POSITIVE_INFINITY, signal }, async (connected, callSignal) => {
      while (!callSignal.aborted) {
        const targetId = tabId ?? (await connected.activeId(callSignal));
        if (targetId === null) throw noTabs();
        await showTab(connected, { targetId, isFollowing: tabId === null, show, signal: callSignal });
      }
    });
}

/** A browser shows the next tab a moment after it has hidden the one before. */
const lookAfterMs = [0, 100, 300, 1000, 2000];

/** False for a tab that is hidden while no other one is shown, as in a window that is minimized. */
async function isElsewhere(
  connected: ConnectedBrowser,
  { targetId, screencast }: Page,
  signal: AbortSignal,
): Promise<boolean> {
  for (const ms of lookAfterMs) {
    using moment = new Deadline(ms, signal);
    await aborted(moment.signal);
    if (screencast.isShown) return false;
    if ((await connected.activeId(signal)) !== targetId) return true;
  }
  return false;
}

/** Resolves when another tab is to be shown. */
async function showTab(connected: ConnectedBrowser, { targetId, isFollowing, show, signal }: Shown): Promise<void> {
  const page = await connected.page(targetId, signal);
  if (page.isCrashed) throw crashed(targetId);
  using wait = new SessionWait(page.session, signal);
  try {
    using _viewer = await page.screencast.join(wait.signal);
    for (let seen = 0; ;) {
      const { number, picture } = await page.screencast.next(seen, wait.signal);
      seen = number;
      if (picture !== null) await show(picture, wait.signal);
      else if (isFollowing && (await isElsewhere(connected, page, wait.signal))) return;
    }
  } catch (error) {
    if (wait.gone === null || !connected.isOpen) throw error;
    if (connected.hasTab(targetId)) throw crashed(targetId);
    if (!isFollowing) throw noTab(targetId);
  }
}
