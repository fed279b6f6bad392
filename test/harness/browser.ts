/** Pages in Debian's Chromium, each in a profile of its own. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

export class TestBrowser implements AsyncDisposable {
  private constructor(private readonly browser: Browser) {}

  /** `hosts`: names that are this machine. */
  static async launch(hosts: readonly string[] = []): Promise<TestBrowser> {
    const program = Bun.which('chromium');
    if (program === null) throw new Error('Chromium is missing: apt-get install chromium');
    const rules = hosts.map((name) => `MAP ${name} 127.0.0.1`).join(',');
    // Its own sandbox wants an account that is not root, or user namespaces.
    const args = ['--no-sandbox', ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])];
    return new TestBrowser(await chromium.launch({ executablePath: program, args }));
  }

  /** Closes the page and its profile with it. */
  async open(options: BrowserContextOptions = {}): Promise<TestPage> {
    const context = await this.browser.newContext(options);
    return new TestPage(await context.newPage());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
  }
}

/** A page, with all that went wrong in it. */
export class TestPage implements AsyncDisposable {
  /** What its scripts threw. */
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}
