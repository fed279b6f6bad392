/** Starts Debian's Chromium with its DevTools protocol, as an image does for the daemon. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import type { TestDisplay } from './display.ts';
import { until } from './until.ts';

export class Chromium implements AsyncDisposable {
  readonly #profile = mkdtempSync(join(tmpdir(), 'boxkeep-chromium-'));
  #process: Subprocess<'ignore', 'ignore', 'pipe'> | null = null;
  #port = 0;

  private constructor(
    private readonly flags: readonly string[],
    private readonly display: TestDisplay | null = null,
  ) {}

  static async start(...flags: readonly string[]): Promise<Chromium> {
    const chromium = new Chromium(flags);
    await chromium.launch();
    return chromium;
  }

  /** A browser with a window on this display. */
  static async on(display: TestDisplay, ...flags: readonly string[]): Promise<Chromium> {
    const chromium = new Chromium(flags, display);
    await chromium.launch();
    return chromium;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The variables that lead a daemon to this browser. */
  get environment(): Readonly<Record<string, string>> {
    return { BROWSER_REMOTE_DEBUGGING_PORT: String(this.#port) };
  }

  /** Starts the browser, again on the same port after `kill`. */
  async launch(): Promise<void> {
    const program = Bun.which('chromium');
    if (program === null) throw new Error('Chromium is missing: apt-get install chromium');
    const portFile = join(this.#profile, 'DevToolsActivePort');
    rmSync(portFile, { force: true });
    this.#process = Bun.spawn(
      [
        program,
        // A window would have a bar with a warning of flags.
        this.display ? '--test-type' : '--headless=new',
        // Chromium's own sandbox needs user namespaces or an account that is not root.
        '--no-sandbox',
        '--no-first-run',
        '--window-size=1280,800',
        `--remote-debugging-port=${this.#port}`,
        `--user-data-dir=${this.#profile}`,
        ...this.flags,
        'about:blank',
      ],
      // A group of its own, so that all its processes end with it.
      {
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
        detached: true,
        env: { ...process.env, HOME: this.#profile, TMPDIR: this.#profile, ...this.display?.environment },
      },
    );
    // The browser writes the file only when it has chosen the port.
    if (this.#port !== 0) return await until('Chromium listens again', () => isServed(this.#port));
    await until('Chromium listens', () => existsSync(portFile) && readFileSync(portFile, 'utf8').includes('\n'));
    this.#port = Number(readFileSync(portFile, 'utf8').split('\n')[0]);
  }

  /** Ends the browser and all its processes at once. */
  async kill(): Promise<void> {
    if (!this.#process) return;
    process.kill(-this.#process.pid, 'SIGKILL');
    await this.#process.exited;
    this.#process = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function isServed(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/json/version`).then(
    ({ ok }) => ok,
    () => false, // Not yet.
  );
}
