/** Starts an X server without a screen on a free display number, and ends it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { needPrograms } from './programs.ts';

/** X servers without a screen, the second with the protocol of VNC. */
export const displayServers = ['Xvfb', 'Xvnc'] as const;

export interface TestDisplayOptions {
  readonly server?: (typeof displayServers)[number];
  readonly width?: number;
  readonly height?: number;
  readonly depth?: number;
  /** Additional arguments of the server, such as `-auth` and a file. */
  readonly flags?: readonly string[];
}

interface ScreenMode {
  readonly size: string;
  readonly depth: string;
}

const screenFlags = {
  Xvfb: ({ size, depth }: ScreenMode) => ['-screen', '0', `${size}x${depth}`],
  // No port, because no test looks at the display over the network.
  Xvnc: ({ size, depth }: ScreenMode) => [
    '-geometry',
    size,
    '-depth',
    depth,
    '-SecurityTypes',
    'None',
    '-rfbport',
    '-1',
  ],
};

export class TestDisplay implements AsyncDisposable {
  /** For the temporary files of the programs on the display. */
  readonly directory = mkdtempSync(join(tmpdir(), 'boxkeep-display-'));
  readonly #programs: Subprocess[] = [];
  #server: Subprocess<'ignore', 'pipe', 'ignore'> | null = null;
  #number = '';

  private constructor(private readonly options: TestDisplayOptions) {}

  static async start(options: TestDisplayOptions = {}): Promise<TestDisplay> {
    needPrograms(options.server ?? 'Xvfb');
    const display = new TestDisplay(options);
    await display.launch();
    return display;
  }

  /** As in `:99`. */
  get name(): string {
    return `:${this.#number}`;
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /** The variables that lead a program to this display. */
  get environment(): Readonly<Record<string, string>> {
    return { DISPLAY: this.name };
  }

  /** Starts the server, again with the same number after `kill`. */
  async launch({ width = 1280, height = 800, depth = 24 }: TestDisplayOptions = this.options): Promise<void> {
    const number = this.#number === '' ? ['-displayfd', '1'] : [this.name, '-displayfd', '1'];
    const { server = 'Xvfb', flags = [] } = this.options;
    const screen = screenFlags[server]({ size: `${width}x${height}`, depth: String(depth) });
    // A group of its own, so that an interrupt of the terminal does not end it before the test.
    this.#server = Bun.spawn([server, ...number, ...screen, '-nolisten', 'tcp', '-noreset', ...flags], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', detached: true },
      env: { ...process.env, TMPDIR: this.directory },
    });
    // The server writes its number when it listens.
    this.#number = await firstLine(this.#server.stdout);
    if (!/^\d+$/.test(this.#number)) throw new Error(`${server} did not start: ${this.#number}`);
  }

  /** Starts a program on the display; it ends with the display at the latest. */
  spawn(
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Subprocess<'ignore', 'pipe', 'ignore'> {
    const own = { HOME: this.directory, TMPDIR: this.directory, XDG_RUNTIME_DIR: this.directory };
    const program = Bun.spawn([...command], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
      env: { ...process.env, ...own, ...this.environment, ...env },
    });
    this.#programs.push(program);
    return program;
  }

  /** Ends the server at once, as a crash does. */
  async kill(): Promise<void> {
    if (!this.#server) return;
    this.#server.kill('SIGKILL');
    await this.#server.exited;
    this.#server = null;
    rmSync(`/tmp/.X${this.#number}-lock`, { force: true });
    rmSync(`/tmp/.X11-unix/X${this.#number}`, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) program.kill('SIGKILL');
    await Promise.all(this.#programs.map(({ exited }) => exited));
    // The server removes its socket and its lock when it is asked to end.
    this.#server?.kill('SIGTERM');
    await this.#server?.exited;
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = stream.getReader();
  while (!text.includes('\n')) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.split('\n')[0] ?? '';
}
