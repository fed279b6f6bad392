/** The console page in a real browser, as a person uses it. */
import type { Page } from 'playwright-core';
import { until } from './until.ts';

export class ConsolePage {
  constructor(readonly page: Page) {}

  /** What the terminal shows, without the spaces at the ends of its lines. */
  async screen(): Promise<string> {
    const rows = await this.page.locator('.xterm-rows > div').allTextContents();
    // The emulator draws an empty cell as a space that does not break.
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

  /** Types with the keyboard, Enter at the end. */
  async type(line: string): Promise<void> {
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  /** Of the session that the address names. */
  get sessionId(): string {
    return decodeURIComponent(/#\/terminal\/(.+)$/.exec(this.page.url())?.[1] ?? '');
  }
}
