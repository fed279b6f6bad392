/** Drives the console page in a real browser, as a person does. */
import { afterAll, beforeAll } from 'bun:test';
import type { Page } from 'playwright-core';
import { TestBrowser } from './browser.ts';
import { expect, test, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { until } from './until.ts';
import { withPlainShell } from './v1-shell.ts';

export class ConsolePage {
  /** What the policy of the page refused. */
  readonly refused: string[] = [];

  constructor(readonly page: Page) {
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) this.refused.push(message.text());
    });
  }

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

  /** Hides the page as another tab in front of it does, or shows it again. */
  async showToPerson(isSeen: boolean): Promise<void> {
    await this.page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => ${!isSeen}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
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

type ConsoleBody = (context: { sandbox: Sandbox; console: ConsolePage }) => Promise<void>;

/** The tests of a file, which share a browser. No script of the page may throw in them, and its policy may refuse nothing. `hosts` are more local names. */
export function consoleTests(viewport: { width: number; height: number }, hosts: readonly string[] = []) {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.launch(hosts);
  });
  afterAll(() => browser[Symbol.asyncDispose]());
  return {
    open: () => browser.open(),
    consoleTest(name: string, body: ConsoleBody, options?: SandboxOptions): void {
      test(
        name,
        async ({ sandbox }) => {
          await using opened = await browser.open({ viewport });
          const console = new ConsolePage(opened.page);
          await body({ sandbox, console });
          expect([...opened.errors, ...console.refused]).toEqual([]);
        },
        withPlainShell(options),
      );
    },
  };
}
