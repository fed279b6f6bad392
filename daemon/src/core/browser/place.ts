/** The URL and the title of a page. */
import { Deadline } from '../../kit/deadline.ts';
import type { PageCall } from './browser.ts';

const maxUrlCharacters = 64 * 1024;
/** As many as Chromium reports in its list of tabs. */
const maxTitleCharacters = 4096;

/** Cut in the page, and again by the daemon. One more character tells that there are more. */
const placeExpression = `[location.href.slice(0, ${maxUrlCharacters + 1}), document.title.slice(0, ${maxTitleCharacters + 1})]`;

export interface UrlAndTitle {
  readonly url: string;
  readonly title: string;
}

/** The tab as the browser reported it last; the report can be older than the page. */
export function knownPlace({ browser, page }: PageCall): UrlAndTitle {
  const { url = '', title = '' } = browser.tabs().find(({ targetId }) => targetId === page.targetId) ?? {};
  return { url, title };
}

/**
 * Asks the page itself, and falls back to the browser's report while the page is busy or changes. `loadedUrl` is what
 * the caller knows to be newer than that report.
 */
export async function placeOf(
  call: PageCall,
  withinMs: number,
  loadedUrl: () => string | null = () => null,
): Promise<UrlAndTitle> {
  const fallback = (): UrlAndTitle => {
    const known = knownPlace(call);
    return { ...known, url: loadedUrl() ?? known.url };
  };
  using limit = new Deadline(withinMs, call.signal);
  try {
    const [url, title] = await call.page.session.valueOf<readonly unknown[]>(placeExpression, limit.signal);
    // Scripts of the page can change what these properties return.
    if (typeof url !== 'string' || typeof title !== 'string') return fallback();
    return { url: cut(url, maxUrlCharacters), title: cut(title, maxTitleCharacters) };
  } catch {
    return fallback(); // Whatever the reason, the browser knows the URL.
  }
}

function cut(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
