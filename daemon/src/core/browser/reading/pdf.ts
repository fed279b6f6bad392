/** Prints a page to a PDF document. */
import type { Browser, PageCallOptions } from '../browser.ts';

export async function printPdf(browser: Browser, options: PageCallOptions): Promise<Uint8Array<ArrayBuffer>> {
  const { value } = await browser.onPage(options, async ({ page, signal }) => {
    const { data } = await page.session.send('Page.printToPDF', { printBackground: true }, signal);
    return Uint8Array.fromBase64(data);
  });
  return value;
}
