/** Checks the URLs that a page may be sent to. */
import { CoreError } from '../../kit/errors.ts';

const maxCharacters = 2 * 1024 * 1024;
const knownSchemes = new Set(['about:', 'blob:', 'chrome:', 'data:', 'http:', 'https:', 'view-source:']);
/** Pages with which Chromium ends itself. It reads `about:` as `chrome:`. */
const endsBrowser = /^(?:chrome|about):\/*(?:quit|restart|inducebrowser\w*|memory-exhaust)\b/i;

/** The URL as the browser takes it. Throws `bad_argument`. */
export function pageUrl(given: string): string {
  if (given.length > maxCharacters) throw refused('the URL', `has more than ${maxCharacters} characters`);
  const text = given.trim();
  const url = URL.parse(text);
  if (url !== null) assertLoadable(url, text);
  // The scheme of `localhost:8080` is `localhost`.
  if (url === null || (/^[\w.-]+:\d+$/.test(text) && !knownSchemes.has(url.protocol))) {
    throw refused(shortened(text), 'is not an absolute URL', 'Pass a whole URL that begins with http:// or https://.');
  }
  return text;
}

function assertLoadable(url: URL, given: string): void {
  if (url.protocol === 'view-source:') {
    const shown = URL.parse(url.href.slice(url.protocol.length));
    if (shown !== null) return assertLoadable(shown, given);
  }
  if (url.protocol === 'javascript:') {
    throw new CoreError('bad_argument', 'a javascript: URL is not loaded', {
      hint: 'Pass the script as an expression.',
      next: { operation: 'browser.evaluate' },
    });
  }
  if (url.protocol === 'file:') {
    throw refused(
      shortened(given),
      'is a file: URL, which is not loaded',
      'Serve its directory, for example with python3 -m http.server, and load the http: URL.',
    );
  }
  // A tab of the developer tools is not in the list of tabs, and the browser may crash.
  if (url.protocol === 'devtools:' || endsBrowser.test(url.href)) {
    throw refused(shortened(given), 'would end the browser or take the tab away, and is not loaded');
  }
}

export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function refused(subject: string, reason: string, hint: string | null = null): CoreError {
  return new CoreError('bad_argument', `${subject} ${reason}`, { hint });
}
