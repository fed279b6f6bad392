/** Acts on the live picture of the console as a person does. */
import type { Page } from 'playwright-core';
import { until } from './until.ts';

export interface Spot {
  readonly x: number;
  readonly y: number;
}

export class LiveView {
  constructor(private readonly page: Page) {}

  /** Resolves when the picture at this place, in pixels of what it shows, has the colour. */
  async untilColour(at: Spot, colour: readonly number[]): Promise<void> {
    let shown: readonly number[] = [];
    await until(`the picture is ${colour.join()} at ${at.x},${at.y}`, async () => {
      shown = await this.page.evaluate<number[]>(`(${colourText})(${at.x}, ${at.y})`);
      return colour.every((part, index) => Math.abs(part - (shown[index] ?? -100)) < 30);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${shown.join()}`);
    });
  }

  /** Where this place is in the window of the person. */
  async place({ x, y }: Spot): Promise<Spot> {
    const canvas = this.page.locator('.live-picture canvas');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    const [width = 1, height = 1] = await canvas.evaluate((drawn: { width: number; height: number }) => [
      drawn.width,
      drawn.height,
    ]);
    if (box === null) throw new Error('there is no picture');
    return { x: box.x + ((x + 0.5) * box.width) / width, y: box.y + ((y + 0.5) * box.height) / height };
  }

  async click(
    at: Spot,
    options: { readonly button?: 'left' | 'right'; readonly clickCount?: number } = {},
  ): Promise<void> {
    const { x, y } = await this.place(at);
    await this.page.mouse.click(x, y, options);
  }
}

/** Runs in the page. */
const colourText = `(x, y) => {
  const canvas = document.querySelector('.live-picture canvas');
  const context = canvas && canvas.getContext('2d');
  return context ? [...context.getImageData(x, y, 1, 1).data.slice(0, 3)] : [];
}`;
