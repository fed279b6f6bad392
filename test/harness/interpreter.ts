/** An interpreter of code as a process at two pipes, as the daemon has it at the other end of a keeper. */
import { spawn, type ChildProcess } from 'node:child_process';

export interface InterpreterEvent {
  readonly event: string;
  readonly cell?: string;
  readonly output?: {
    readonly output_type: string;
    readonly name?: string;
    readonly text?: string;
    readonly data?: Record<string, unknown>;
    readonly metadata?: Record<string, unknown>;
    readonly ename?: string;
    readonly evalue?: string;
    readonly traceback?: readonly string[];
    readonly execution_count?: number;
  };
  readonly status?: string;
  readonly exit_code?: number;
  readonly execution_count?: number;
  readonly display_id?: string;
  readonly data?: Record<string, unknown>;
  readonly wait?: boolean;
  readonly language?: string;
  readonly version?: string;
  readonly pid?: number;
}

export interface Ran {
  readonly events: readonly InterpreterEvent[];
  readonly status: string | undefined;
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The text of the result; undefined when there is none. */
  readonly result: unknown;
  readonly error: { readonly ename: string; readonly evalue: string; readonly traceback: string } | undefined;
}

const deadlineMs = 20_000;
const againMs = 200;

export class Interpreter implements AsyncDisposable {
  readonly events: InterpreterEvent[] = [];
  /** What it wrote that is no event; a protocol that is not broken leaves it empty. */
  readonly strayLines: string[] = [];
  stray = '';
  readonly exited: Promise<number | string>;
  readonly #process: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #cells = 0;

  constructor(
    program: { readonly argv: readonly string[]; readonly input: Uint8Array },
    options: { readonly cwd?: string; readonly env?: Record<string, string | undefined> } = {},
  ) {
    const [file = '', ...args] = program.argv;
    const env = { ...process.env, ...options.env };
    this.#process = spawn(file, args, { cwd: options.cwd ?? '/', env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stdin?.on('error', () => this.#tell()); // It has ended; what waits for it says so.
    this.#process.stdin?.write(program.input);
    this.#process.stderr?.on('data', (bytes: Buffer) => (this.stray += bytes.toString()));
    this.#readLines();
    this.exited = new Promise((resolve) =>
      this.#process.once('close', (code, signal) => {
        resolve(code ?? signal ?? 'lost');
        this.#tell();
      }),
    );
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async ready(): Promise<InterpreterEvent> {
    return await this.event(({ event }) => event === 'ready');
  }

  /** Asks for a cell, and answers its id. */
  send(code: string, more: { readonly cwd?: string; readonly env?: Record<string, string | null> } = {}): string {
    this.#cells += 1;
    const cell = `c${this.#cells}`;
    this.line({ op: 'execute', cell, code, cwd: more.cwd ?? null, env: more.env ?? null });
    return cell;
  }

  line(request: object): void {
    this.text(`${JSON.stringify(request)}\n`);
  }

  text(text: string): void {
    this.#process.stdin?.write(text);
  }

  /** Runs a cell to its end. */
  async run(
    code: string,
    more: { readonly cwd?: string; readonly env?: Record<string, string | null> } = {},
  ): Promise<Ran> {
    return await this.end(this.send(code, more));
  }

  async end(cell: string): Promise<Ran> {
    await this.event((event) => event.event === 'end' && event.cell === cell);
    return this.told(cell);
  }

  /** What has come of a cell so far. */
  told(cell: string): Ran {
    const events = this.events.filter((event) => event.cell === cell);
    const outputs = events.flatMap(({ output }) => (output ? [output] : []));
    const text = (name: string): string => outputs.map((output) => (output.name === name ? output.text : '')).join('');
    const end = events.find(({ event }) => event === 'end');
    const error = outputs.find(({ output_type }) => output_type === 'error');
    return {
      events,
      status: end?.status,
      exitCode: end?.exit_code,
      stdout: text('stdout'),
      stderr: text('stderr'),
      result: outputs.find(({ output_type }) => output_type === 'execute_result')?.data?.['text/plain'],
      error: error && {
        ename: error.ename ?? '',
        evalue: error.evalue ?? '',
        traceback: (error.traceback ?? []).join('\n'),
      },
    };
  }

  /** The first event of that kind, which may have come already. */
  async event(isIt: (event: InterpreterEvent) => boolean): Promise<InterpreterEvent> {
    const deadline = performance.now() + deadlineMs;
    for (let seen = 0; ;) {
      for (; seen < this.events.length; seen += 1) {
        const event = this.events[seen];
        if (event && isIt(event)) return event;
      }
      const left = deadline - performance.now();
      const hasEnded = this.#process.exitCode !== null || this.#process.signalCode !== null;
      if (left <= 0 || hasEnded) {
        const last = this.events.slice(-5).map((event) => JSON.stringify(event).slice(0, 300));
        throw new Error(`${hasEnded ? 'it has ended' : 'no such event'}; the last: ${last.join('\n')}\n${this.stray}`);
      }
      await this.#change(left);
    }
  }

  /** Until what a cell has told is like that. */
  async until(cell: string, isSo: (ran: Ran) => boolean): Promise<Ran> {
    await this.event(() => isSo(this.told(cell)));
    return this.told(cell);
  }

  interrupt(): void {
    this.#process.kill('SIGINT');
  }

  /** Node can miss a signal that arrives while code ceases to compute and begins to wait. */
  async interruptUntilEnd(cell: string): Promise<void> {
    this.interrupt();
    const again = setInterval(() => this.interrupt(), againMs);
    try {
      await this.end(cell);
    } finally {
      clearInterval(again);
    }
  }

  /** No more requests. */
  finish(): void {
    this.#process.stdin?.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  #readLines(): void {
    let rest: Buffer[] = [];
    this.#process.stdout?.on('data', (bytes: Buffer) => {
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        this.#take(Buffer.concat([...rest, bytes.subarray(start, end)]).toString());
        rest = [];
        start = end + 1;
      }
      if (start < bytes.length) rest.push(bytes.subarray(start));
      this.#tell();
    });
  }

  #take(line: string): void {
    try {
      this.events.push(JSON.parse(line) as InterpreterEvent);
    } catch {
      this.strayLines.push(line); // A test looks at these: there may be none.
    }
  }

  #tell(): void {
    for (const wake of this.#waiting) wake();
  }

  async #change(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => wake(), withinMs);
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}
