/** What the pages of a browser download is bounded. */
import { afterAll, beforeAll } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chromium } from '../harness/chromium.ts';
import { expect, test } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
const maxMib = 30;
/** Twenty files of 20 MiB, whose sizes are not announced. */
const greedy = `for (let n = 0; n < 20; n++) {
  const link = document.createElement('a');
  link.href = '/file?mib=20&n=' + n;
  link.download = '';
  link.click();
}`;
let chromium: Chromium;
let site: Site;
const directory = mkdtempSync(join(tmpdir(), 'boxkeep-downloads-'));

/** Chromium reports the progress of a download twice a second, so a file takes longer than that. */
const mebibyteMs = 100;

/** Downloads that have begun, and those of them that are on their way. */
const served = { begun: 0, open: 0 };

/** A file of some MiB, whose size is announced only if `announced`. */
function file({ searchParams }: URL): Response {
  const mib = Number(searchParams.get('mib'));
  let sent = 0;
  served.begun++;
  served.open++;
  const body = new ReadableStream({
    cancel: () => void served.open--,
    async pull(controller) {
      if (sent++ === mib) {
        served.open--;
        return controller.close();
      }
      await Bun.sleep(mebibyteMs);
      controller.enqueue(new Uint8Array(mebibyte));
    },
  });
  const size = searchParams.has('announced') ? { 'content-length': String(mib * mebibyte) } : {};
  return new Response(body, { headers: { 'content-disposition': 'attachment; filename="file.bin"', ...size } });
}

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({
    '/file': file,
    '/links': () =>
      new Response('<title>Links</title><a href="/file?mib=100&announced" download>Large</a>', {
        headers: { 'content-type': 'text/html' },
      }),
  });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
  rmSync(directory, { recursive: true, force: true });
});

test(
  'BROWSER-19 downloads beyond SVC_BROWSER_DOWNLOAD_MIB are cancelled, and the answer says why',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/browser/cdp', {
      method: 'Browser.setDownloadBehavior',
      params: { behavior: 'allow', downloadPath: directory },
      browser: true,
    });
    await sandbox.ok('POST /v2/browser/navigate', { url: site.url('/links') });
    await sandbox.ok('POST /v2/browser/evaluate', { expression: greedy });
    const names = () => readdirSync(directory);
    // All may have been cancelled before the first one has left a file.
    const isOver = () => served.begun > 0 && served.open === 0 && !names().some((name) => name.endsWith('.crdownload'));
    await until('the downloads have ended', isOver);
    const bytes = names().reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(maxMib * mebibyte);
    // A size that is announced counts before the file has arrived.
    const { downloads } = await sandbox.ok('POST /v2/browser/click', { selector: 'a' });
    expect(downloads).toMatchObject([
      { state: 'canceled', reason: expect.stringContaining('SVC_BROWSER_DOWNLOAD_MIB'), path: null },
    ]);
  },
  {
    env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1', SVC_BROWSER_DOWNLOAD_MIB: String(maxMib) }),
    timeoutMs: 120_000,
  },
);
