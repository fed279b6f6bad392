/** Uses a page that fills a display, with the real pointer and keyboard, slowly enough for the viewer of a film. */
import type { Locator, Page } from 'playwright-core';
import type { ComputerWorker } from './computer-worker.ts';
import type { Spot } from './live-view.ts';

const stepMs = 16;
const pixelsOfStep = 24;
const keyMs = 45;
/** Between what a person does and what the person does next. */
const lookMs = 1500;

export class FilmedPerson {
  #at: Spot = { x: 640, y: 400 };

  constructor(
    private readonly worker: ComputerWorker,
    readonly page: Page,
  ) {}

  async click(target: Locator): Promise<void> {
    await target.click({ trial: true }); // Only waits until it can be clicked and no longer moves.
    const box = await target.boundingBox();
    if (box === null) throw new Error(`${String(target)} is not shown`);
    await this.clickAt({ x: box.x + Math.min(box.width / 2, 200), y: box.y + Math.min(box.height / 2, 60) });
  }

  async clickAt(spot: Spot): Promise<void> {
    await this.#moveTo(spot);
    await this.#act({ action_type: 'CLICK' });
    await this.look();
  }

  async type(text: string): Promise<void> {
    for (const character of text) {
      await this.#act(
        character === '\n' ? { action_type: 'PRESS', key: 'enter' } : { action_type: 'TYPING', text: character },
      );
      await Bun.sleep(keyMs);
    }
    await this.look();
  }

  async press(...keys: string[]): Promise<void> {
    await this.#act({ action_type: 'HOTKEY', keys });
    await this.look();
  }

  /** Gives the viewer time to see what has happened. */
  async look(times = 1): Promise<void> {
    await Bun.sleep(times * lookMs);
  }

  async #moveTo(spot: Spot): Promise<void> {
    const from = this.#at;
    const steps = Math.ceil(Math.hypot(spot.x - from.x, spot.y - from.y) / pixelsOfStep);
    for (let step = 1; step <= steps; step++) {
      const part = step / steps;
      const at = { x: Math.round(from.x + (spot.x - from.x) * part), y: Math.round(from.y + (spot.y - from.y) * part) };
      await this.#act({ action_type: 'MOVE_TO', ...at });
      await Bun.sleep(stepMs);
    }
    this.#at = spot;
  }

  async #act(action: object): Promise<void> {
    await this.worker.ok('POST /v2/computer/actions', action);
  }
}
