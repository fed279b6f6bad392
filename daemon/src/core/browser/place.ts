/** The URL and the title of a page. */
import { Deadline } from '../../kit/deadline.ts';
import type { Page } from './page.ts';

export interface UrlAndTitle {
  readonly url: string;
  readonly title: string;
}

/** As the browser has reported the tab, which is a moment behind the page. */
export function knownPlace({ browser, targetId }: Page): UrlAndTitle {
  const { url = '', title = '' } = browser.tabs().find((tab) => tab.targetId === targetId) ?? {};
  return { url, title };
}

/** As the page says; a page that is busy or changes at this moment is described as the browser knows it. */
export async function placeOf(page: Page, withinMs: number, signal: AbortSignal): Promise<UrlAndTitle> {
  using limit = new Deadline(withinMs, signal);
  try {
    const expression = '[location.href, document.title]';
    const [url, title] = await page.session.valueOf<[string, string]>(expression, limit.signal);
    return { url, title };
  } catch {
    return knownPlace(page); // Whatever the reason, the browser knows the URL.
  }
}
