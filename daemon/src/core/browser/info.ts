/** Describes the browser: its version, its address and the sizes of the screen and the page. */
import type { Size } from '../../kit/types/geometry.ts';
import type { Browser, CallOptions } from './browser.ts';
import type { ConnectedBrowser } from './connected-browser.ts';

export interface BrowserInfo {
  /** For example `Chrome/156.0.8078.79`. */
  readonly version: string;
  readonly userAgent: string;
  /** The path of the WebSocket of the browser, such as `/devtools/browser/<id>`. */
  readonly socketPath: string;
  /** Null when the browser has no tab. */
  readonly activeTabId: string | null;
  /** The display. */
  readonly screen: Size;
  /** The page inside the window; null when the page does not answer. */
  readonly page: Size | null;
}

export async function browserInfo(browser: Browser, options: CallOptions): Promise<BrowserInfo> {
  return await browser.call(options, async (connected, signal) => {
    const { product: version, userAgent, socketPath } = connected.version;
    const activeTabId = await connected.activeId(signal);
    return { version, userAgent, socketPath, activeTabId, ...(await sizesOf(connected, activeTabId, signal)) };
  });
}

/** A size as a whole number; 0 for what a script of the page has put in its place. */
export function pixels(size: unknown): number {
  return Number.isSafeInteger(size) ? Number(size) : 0;
}

/** Time for a busy page to report its sizes. */
const sizesMs = 2000;

async function sizesOf(
  connected: ConnectedBrowser,
  tabId: string | null,
  signal: AbortSignal,
): Promise<{ screen: Size; page: Size | null }> {
  if (tabId === null) return { screen: { width: 0, height: 0 }, page: null };
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(sizesMs)]);
    const { session } = await connected.page(tabId, within);
    const sizes = await session.valueOf<unknown[]>('[screen.width, screen.height, innerWidth, innerHeight]', within);
    const [screenWidth, screenHeight, width, height] = sizes.map(pixels) as [number, number, number, number];
    return { screen: { width: screenWidth, height: screenHeight }, page: { width, height } };
  } catch {
    // A busy page does not answer. The window is the best that the browser itself knows.
    const { bounds } = await connected.root.send('Browser.getWindowForTarget', { targetId: tabId }, signal);
    return { screen: { width: bounds.width ?? 0, height: bounds.height ?? 0 }, page: null };
  }
}
