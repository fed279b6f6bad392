/** The console's terminal draws whole letters, whatever monospace font and zoom the browser uses. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Locator } from 'playwright-core';
import { TestBrowser } from '../harness/browser.ts';
import { ConsolePage } from '../harness/console-page.ts';
import { inkOf, type Area } from '../harness/ink.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { withPlainShell } from '../harness/v1-shell.ts';

const fonts = [
  ['DejaVu Sans Mono', '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf'],
  ['Liberation Mono', '/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf'],
] as const;
const packages = 'fonts-dejavu-core fonts-liberation';
const zooms = [0.8, 1, 1.5];
/** Drawn alternately in several rows, because rows start at different fractions of a pixel. */
const texts = ['________', 'gjpqy|()'];
const rows = 8;
/** In page pixels, wider than the texts. */
const widestText = 120;
/** The share of the ink of the same text with space around. Thin lines differ by a third between two positions. */
const leastShare = 0.5;

/** A fontconfig file that makes this font the only one of the machine. */
function writeFontSettings(directory: string, file: string): string {
  if (!existsSync(file)) throw new Error(`${file} is missing: apt-get install ${packages}`);
  copyFileSync(file, join(directory, basename(file)));
  const path = join(directory, 'fonts.conf');
  // The system's hinting selects the pixel row of an underscore.
  const settings =
    `<include ignore_missing="yes">/etc/fonts/conf.d</include><dir>${directory}</dir>` +
    `<cachedir>${join(directory, 'cache')}</cachedir>`;
  writeFileSync(path, `<?xml version="1.0"?><fontconfig>${settings}</fontconfig>`);
  return path;
}

/**
 * The terminal shows a text in every second row without a cursor; the page shows each text once more, with space
 * around.
 */
async function draw(sandbox: Sandbox, console: ConsolePage): Promise<void> {
  const { page } = console;
  await page.goto((await sandbox.request('GET /v1/shell/terminal-url')).body.data as unknown as string);
  await console.untilState('attached');
  const lines = Array.from({ length: rows }, (_, row) => texts[row % texts.length]).join(String.raw`\n\n`);
  await console.type(String.raw`clear; printf '\033[?25l\n${lines}\n\ndrawn\n'; read line`);
  await console.untilScreen(/^drawn$/m);
  await page.evaluate(`(() => {
    const { fontFamily, fontSize, color } = getComputedStyle(document.querySelector('.xterm-rows'));
    for (const [at, text] of ${JSON.stringify(texts)}.entries()) {
      const made = document.createElement('div');
      made.className = 'whole';
      made.textContent = text;
      const place = { position: 'fixed', right: 0, bottom: 100 * at + 'px', padding: '20px', lineHeight: 2 };
      Object.assign(made.style, place, { fontFamily, fontSize, color, background: '#14181f' });
      document.body.append(made);
    }
  })()`);
}

/** The page area of an element, or of a line of text at its start. */
async function areaOf(found: Locator, margin = 0): Promise<Area> {
  const { x, y, width, height } = (await found.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { x, y: y - margin * height, width: Math.min(width, widestText), height: height * (1 + 2 * margin) };
}

for (const [family, file] of fonts) {
  test(
    `OPS-HOME underscores and descenders are drawn whole in ${family}, at every zoom`,
    async ({ sandbox }) => {
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-fonts-'));
      try {
        await using browser = await TestBrowser.launch([], { FONTCONFIG_FILE: writeFontSettings(directory, file) });
        for (const zoom of zooms) {
          await using opened = await browser.open({ viewport: { width: 900, height: 600 }, deviceScaleFactor: zoom });
          const console = new ConsolePage(opened.page);
          await draw(sandbox, console);
          // Half a row above and below: a letter may reach into its neighbours.
          const shown = Array.from({ length: rows }, (_, row) =>
            areaOf(opened.page.locator(`.xterm-rows > div:nth-child(${2 * row + 2})`), 0.5),
          );
          const whole = (await opened.page.locator('.whole').all()).map((found) => areaOf(found));
          const wholeInks = await inkOf(opened.page, await Promise.all(whole));
          const inks = await inkOf(opened.page, await Promise.all(shown));
          const shares = inks.map((ink, row) => ink / (wholeInks[row % texts.length] ?? 0));
          expect([zoom, shares.filter((share) => share < leastShare)]).toEqual([zoom, []]);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
    withPlainShell(),
  );
}
