/** Drives the console page in a real browser, as a person does. */
import type { Page } from 'playwright-core';
import { until } from './until.ts';

export class ConsolePage {
  constructor(readonly page: Page) {}

  /** The content of the terminal, without trailing spaces. */
  async screen(): Promise<string> {
    const rows = await this.page.locator('.xterm-rows > div').allTextContents();
    // The emulator draws an empty cell as a no-break space.
    return rows
      .map((row) => row.replaceAll('\u00A0', ' ').trimEnd())
      .join('\n')
      .trimEnd();
  }

  async untilScreen(what: RegExp): Promise<void> {
    await until(`the screen shows ${what}`, async () => what.test(await this.screen())).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}; it shows:\n${await this.screen()}`);
      },
    );
  }

  async untilState(state: string): Promise<void> {
    await this.page.locator('.state', { hasText: state }).waitFor();
  }

  /** Types a line on the keyboard and presses Enter. */
  async type(line: string): Promise<void> {
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  /** The id of the session in the address. */
  get sessionId(): string {
    return decodeURIComponent(/#\/terminal\/(.+)$/.exec(this.page.url())?.[1] ?? '');
  }
}
