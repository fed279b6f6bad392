/** The URL and the title of a page. */
import { Deadline } from '../../kit/deadline.ts';
import type { Page } from './page.ts';

export interface UrlAndTitle {
  readonly url: string;
  readonly title: string;
}

/** The tab as the browser reported it last; the report can be older than the page. */
export function knownPlace({ browser, targetId }: Page): UrlAndTitle {
  const { url = '', title = '' } = browser.tabs().find((tab) => tab.targetId === targetId) ?? {};
  return { url, title };
}

/** Asks the page itself, and falls back to the browser's report while the page is busy or changes. */
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
