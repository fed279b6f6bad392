/** A display with a session bus, on which programs register with AT-SPI as on a desktop. */
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { repositoryRoot } from '../../tools/repository.mjs';
import { TestDisplay, type TestDisplayOptions } from './display.ts';
import { needPrograms } from './programs.ts';
import { until } from './until.ts';

/** Debian's own Python, which has the bindings of GTK. */
const python = '/usr/bin/python3';

const needed = [
  'dbus-daemon',
  '/usr/lib/python3/dist-packages/gi',
  '/usr/libexec/at-spi2-registryd',
  '/usr/share/doc/gir1.2-gtk-3.0/copyright',
];

export class AccessibleDesktop implements AsyncDisposable {
  #bus: Subprocess<'ignore', 'pipe', 'ignore'> | null = null;
  #address = '';
  readonly #windows: AccessibleWindow[] = [];
  readonly #browsers: Subprocess[] = [];

  private constructor(readonly display: TestDisplay) {}

  static async start(options: TestDisplayOptions = {}): Promise<AccessibleDesktop> {
    needPrograms(...needed);
    const desktop = new AccessibleDesktop(await TestDisplay.start(options));
    await desktop.startBus();
    return desktop;
  }

  /** The variables that lead a worker and a program to this session. */
  get environment(): Readonly<Record<string, string>> {
    const { directory } = this.display;
    const own = { HOME: directory, TMPDIR: directory, XDG_RUNTIME_DIR: directory };
    return { ...own, ...this.display.environment, DBUS_SESSION_BUS_ADDRESS: this.#address };
  }

  /** Starts the bus; the services that it starts are in its process group. */
  async startBus(): Promise<void> {
    const address = `--address=unix:dir=${this.display.directory}`;
    this.#bus = Bun.spawn(['dbus-daemon', '--session', address, '--nofork', '--nopidfile', '--print-address=1'], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', detached: true },
      env: { ...process.env, ...this.environment },
    });
    const { value } = await this.#bus.stdout.getReader().read();
    this.#address = new TextDecoder().decode(value).trim();
  }

  /** Ends the bus and the services that it has started. */
  async endBus(): Promise<void> {
    if (!this.#bus) return;
    const { pid } = this.#bus;
    killGroup(pid);
    await this.#bus.exited;
    await until('the services of the bus have ended', () => !killGroup(pid));
    this.#bus = null;
  }

  /** Opens the window of `test/fixtures/accessible-window.py`, and waits until it is on the screen. */
  async open(title: string, buttons = 4): Promise<AccessibleWindow> {
    const fixture = join(repositoryRoot, 'test/fixtures/accessible-window.py');
    const window = new AccessibleWindow([python, fixture, title, String(buttons)], this.environment);
    this.#windows.push(window);
    await window.prints('shown');
    return window;
  }

  /** Opens a page in Chromium as the computer image starts it; its processes end with the desktop. */
  openChromium(url: string, ...options: readonly string[]): void {
    needPrograms('chromium');
    const profile = join(this.display.directory, `chromium-${this.#browsers.length}`);
    const flags = ['--no-sandbox', '--no-first-run', '--force-renderer-accessibility', `--user-data-dir=${profile}`];
    const browser = Bun.spawn(['chromium', ...flags, ...options, url], {
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', detached: true },
      // A browser that starts before the first reading of the tree asks this variable whether to register.
      env: { ...process.env, ...this.environment, GNOME_ACCESSIBILITY: '1' },
    });
    this.#browsers.push(browser);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of this.#browsers) {
      await until('the processes of Chromium have ended', () => !killGroup(pid));
    }
    for (const window of this.#windows) await window.close();
    await this.endBus();
    await this.display[Symbol.asyncDispose]();
  }
}

export class AccessibleWindow {
  readonly #process: Subprocess<'ignore', 'pipe', 'ignore'>;
  #output = '';

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#process = Bun.spawn([...command], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
      env: { ...process.env, ...env },
    });
    void this.#collect();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Waits for a line of the window. */
  async prints(line: string): Promise<void> {
    const isPrinted = () => this.#output.split('\n').includes(line);
    await until(`the window prints ${line}`, () => isPrinted() || this.#process.exitCode !== null);
    if (!isPrinted()) throw new Error(`the window has ended with ${this.#process.exitCode}: ${this.#output}`);
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
  }

  async #collect(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stdout as unknown as AsyncIterable<Uint8Array>) {
      this.#output += decoder.decode(chunk, { stream: true });
    }
  }
}

/** False when the group has no process. */
function killGroup(pid: number): boolean {
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch {
    return false; // The group has ended.
  }
}
