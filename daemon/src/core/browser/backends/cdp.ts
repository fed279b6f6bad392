/** The backend of the daemon itself, which drives pages over the DevTools protocol. */
import type { Browser } from '../browser.ts';
import type { BrowserBackend } from './backend.ts';

/** Each verb is loaded with its first call, because most daemons never have a browser. */
export function cdpBackend(browser: Browser): BrowserBackend {
  return {
    snapshot: async (spec) => (await import('../snapshot/snapshot.ts')).takeSnapshot(browser, spec),
    click: async (spec) => (await import('../actions/click.ts')).click(browser, spec),
    fill: async (spec) => (await import('../actions/fill.ts')).fill(browser, spec),
    upload: async (spec) => (await import('../actions/upload.ts')).upload(browser, spec),
  };
}
