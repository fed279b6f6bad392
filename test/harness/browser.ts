/** Opens pages in Debian's Chromium, each in a separate profile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

export class TestBrowser implements AsyncDisposable {
  private constructor(
    private readonly browser: Browser,
    /** Chromium's home and place for temporary files, because it leaves some in both. */
    private readonly directory: string,
  ) {}

  /** `hosts`: names that resolve to this machine. `env`: additional environment variables of the browser. */
  static async launch(hosts: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<TestBrowser> {
    const program = Bun.which('chromium');
    if (program === null) throw new Error('Chromium is missing: apt-get install chromium');
    const rules = hosts.map((name) => `MAP ${name} 127.0.0.1`).join(',');
    // Chromium's own sandbox needs user namespaces or an account that is not root.
    const args = ['--no-sandbox', ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])];
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-chromium-'));
    const own = { HOME: directory, TMPDIR: directory, XDG_CONFIG_HOME: directory, XDG_CACHE_HOME: directory };
    const options = { executablePath: program, args, env: { ...process.env, ...own, ...env } };
    return new TestBrowser(await chromium.launch(options), directory);
  }

  /** Opens a page in a new profile, which closes with the page. */
  async open(options: BrowserContextOptions = {}): Promise<TestPage> {
    const context = await this.browser.newContext(options);
    return new TestPage(await context.newPage());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A page that records its script errors. */
export class TestPage implements AsyncDisposable {
  /** The exceptions that the page's scripts threw. */
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}
