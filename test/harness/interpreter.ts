/** Runs a code interpreter as a process with two pipes, as the daemon does through a keeper. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fairTimeout } from './fair-clock.ts';

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
  /** The text of the result. Undefined when there is none. */
  readonly result: unknown;
  readonly error: { readonly ename: string; readonly evalue: string; readonly traceback: string } | undefined;
}

interface CellOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string | null>;
  /** Variables of this cell only. */
  readonly cellEnv?: Record<string, string | null>;
  /** A signal was sent since the previous cell. */
  readonly interrupted?: boolean;
}

const deadlineMs = 20_000;
const againMs = 200;

export class Interpreter implements AsyncDisposable {
  readonly events: InterpreterEvent[] = [];
  /** Lines that are not events. A correct interpreter writes none. */
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
    this.#process.stdin?.on('error', () => this.#notify()); // The process has ended, and the waiting call reports it.
    this.#process.stdin?.write(program.input);
    this.#process.stderr?.on('data', (bytes: Buffer) => (this.stray += bytes.toString()));
    this.#readLines();
    this.exited = new Promise((resolve) =>
      this.#process.once('close', (code, signal) => {
        resolve(code ?? signal ?? 'lost');
        this.#notify();
      }),
    );
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async ready(): Promise<InterpreterEvent> {
    return await this.event(({ event }) => event === 'ready');
  }

  /** Requests the execution of a cell and returns its id. */
  send(code: string, more: CellOptions = {}): string {
    this.#cells += 1;
    const cell = `c${this.#cells}`;
    const { cwd = null, env = null, cellEnv, interrupted = false } = more;
    this.line({ op: 'execute', cell, code, cwd, env, lent: cellEnv, interrupted });
    return cell;
  }

  line(request: object): void {
    this.text(`${JSON.stringify(request)}\n`);
  }

  text(text: string): void {
    this.#process.stdin?.write(text);
  }

  /** Runs a cell to its end. */
  async run(code: string, more: CellOptions = {}): Promise<Ran> {
    return await this.end(this.send(code, more));
  }

  async end(cell: string): Promise<Ran> {
    await this.event((event) => event.event === 'end' && event.cell === cell);
    return this.summary(cell);
  }

  /** The events of a cell so far, summarized. */
  summary(cell: string): Ran {
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

  /** The first matching event, past or future. */
  async event(isIt: (event: InterpreterEvent) => boolean): Promise<InterpreterEvent> {
    let isLate = false;
    const onLate = () => {
      isLate = true;
      this.#notify();
    };
    using _timeout = fairTimeout(onLate, deadlineMs);
    for (let seen = 0; ;) {
      for (; seen < this.events.length; seen += 1) {
        const event = this.events[seen];
        if (event && isIt(event)) return event;
      }
      const hasEnded = this.#process.exitCode !== null || this.#process.signalCode !== null;
      if (isLate || hasEnded) {
        const last = this.events.slice(-5).map((event) => JSON.stringify(event).slice(0, 300));
        throw new Error(`${hasEnded ? 'it has ended' : 'no such event'}; the last: ${last.join('\n')}\n${this.stray}`);
      }
      await this.#change();
    }
  }

  /** Waits until the events of a cell satisfy a condition. */
  async until(cell: string, isSo: (ran: Ran) => boolean): Promise<Ran> {
    await this.event(() => isSo(this.summary(cell)));
    return this.summary(cell);
  }

  interrupt(): void {
    this.#process.kill('SIGINT');
  }

  /** Node can miss a signal that arrives between computing and waiting, so the signal is repeated. */
  async interruptUntilEnd(cell: string): Promise<void> {
    this.interrupt();
    const again = setInterval(() => this.interrupt(), againMs);
    try {
      await this.end(cell);
    } finally {
      clearInterval(again);
    }
  }

  /** Closes the interpreter's input, so that it gets no more requests. */
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
      this.#notify();
    });
  }

  #take(line: string): void {
    try {
      this.events.push(JSON.parse(line) as InterpreterEvent);
    } catch {
      this.strayLines.push(line); // Tests assert that there are none of these.
    }
  }

  #notify(): void {
    for (const wake of this.#waiting) wake();
  }

  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
  }
}
