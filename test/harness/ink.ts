/** Measures how much of a page area is drawn: a clipped glyph has less ink than a whole one. */
import type { Page } from 'playwright-core';

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The sum of the pixels of each area. A pixel as dark as the area's darkest counts 0, a white pixel 1. */
export async function inkOf(page: Page, areas: readonly Area[]): Promise<number[]> {
  const sums: number[] = [];
  for (const clip of areas) {
    const image = (await page.screenshot({ clip, animations: 'disabled' })).toString('base64');
    sums.push(await page.evaluate<number>(`(${sumText})('data:image/png;base64,${image}')`));
  }
  return sums;
}

/** Runs in the page, which can decode images. */
const sumText = `async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const bright = [];
  for (let at = 0; at < data.length; at += 4) bright.push((data[at] + data[at + 1] + data[at + 2]) / 765);
  const dark = bright.reduce((least, each) => Math.min(least, each), 1);
  return bright.reduce((sum, each) => sum + each - dark, 0);
}`;
