/** Runs the bridge and Jupyter kernels as processes of a test, with requests and events as lines. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fairTimeout } from './fair-clock.ts';
import { needPython } from './interpreters.ts';
import { until } from './until.ts';

export const repositoryRoot = join(import.meta.dirname, '../..');
/** Starts the bridge like the daemon: a loader of one line, then the program on standard input before the requests. */
const loader =
  "(lambda i:exec(compile(i.read(int(i.readline())),'<boxkeep>','exec'),{'__name__':'boxkeep','requests':i}))" +
  "(open(__import__('os').dup(0),'rb'))";
const program = Buffer.concat(
  ['bridge/main', 'bridge/messages', 'bridge/cells', 'bridge/ipython', 'pending', 'lend', 'bridge/kernel'].flatMap(
    (part) => {
      const text = readFileSync(join(repositoryRoot, `daemon/src/assets/${part}.py`));
      return [Buffer.from(`${text.length}\n`), text];
    },
  ),
);
const waitMs = 20_000;

export const environment = needPython('code');
export const python = join(environment, 'bin/python3');

const ipykernel = [
  ...[python, '-m', 'ipykernel_launcher', '-f', '{connection_file}'],
  ...['--HistoryManager.enabled=False', '--IPythonKernel._execute_sleep=0'],
];

export interface Event {
  readonly event: string;
  readonly kernel?: string;
  readonly cell?: string;
  readonly [key: string]: unknown;
}

export interface Connection {
  readonly transport: 'ipc' | 'tcp';
  readonly ip: string;
  readonly key: string;
  readonly signature_scheme: string;
  readonly [port: `${string}_port`]: number;
}

/** All started processes. They end with the test, in the reverse order. */
export class Stage implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'boxkeep-bridge-'));
  readonly #processes: Bun.Subprocess[] = [];
  #count = 0;

  /** A kernel with its own sockets. `argv` is the one of a kernelspec. */
  kernel(argv: readonly string[] = ipykernel): Kernel {
    const name = `kernel-${++this.#count}`;
    const connection = ipcConnection(join(this.directory, name));
    const file = join(this.directory, `${name}.json`);
    writeFileSync(file, JSON.stringify(connection));
    const child = Bun.spawn(
      argv.map((argument) => argument.replace('{connection_file}', file)),
      { cwd: this.directory, env: this.env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    );
    this.#processes.push(child);
    return { name, connection, child };
  }

  async bridge(interpreter = python): Promise<Bridge> {
    const child = Bun.spawn([interpreter, '-I', '-c', loader], {
      env: this.env,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#processes.push(child);
    const bridge = new Bridge(child);
    bridge.write(program);
    await bridge.event('ready');
    return bridge;
  }

  /** Resolves when a kernel has written its connection file, which it does in one write. */
  async written(file: string): Promise<void> {
    await until(`${file} is written`, () => existsSync(file) && readFileSync(file).length > 0);
  }

  /** Directs the files that a kernel keeps for its account, such as the history, to the test's directory. */
  get env(): Record<string, string> {
    return {
      PATH: `${environment}/bin:/usr/bin:/bin`,
      HOME: this.directory,
      IPYTHONDIR: join(this.directory, 'ipython'),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes.reverse()) child.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ exited }) => exited));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface Kernel {
  readonly name: string;
  readonly connection: Connection;
  readonly child: Bun.Subprocess;
}

export function ipcConnection(ip: string): Connection {
  return {
    transport: 'ipc',
    ip,
    ...{ shell_port: 1, iopub_port: 2, stdin_port: 3, control_port: 4, hb_port: 5 },
    key: crypto.randomUUID(),
    signature_scheme: 'hmac-sha256',
  };
}

/** The cells of a test have distinct ids, across all bridges. */
let cells = 0;

export class Bridge {
  readonly child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  /** All events so far. */
  readonly events: Event[] = [];
  readonly #wake = new Set<() => void>();

  constructor(child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>) {
    this.child = child;
    void this.#read();
  }

  send(request: object): void {
    this.write(`${JSON.stringify(request)}\n`);
  }

  write(bytes: string | Uint8Array): void {
    void this.child.stdin.write(bytes);
    void this.child.stdin.flush();
  }

  async open(kernel: Kernel, more: object = {}): Promise<Event> {
    this.send({ op: 'open', kernel: kernel.name, connection: kernel.connection, language: 'python', ...more });
    return await this.until('opened', (event) => event.event === 'opened' && event.kernel === kernel.name);
  }

  /** Requests the execution of a cell and returns its id. */
  execute(kernel: Kernel, code: string, more: object = {}): string {
    const cell = `cell-${++cells}`;
    this.send({ op: 'execute', kernel: kernel.name, cell, code, cwd: null, env: null, ...more });
    return cell;
  }

  async run(kernel: Kernel, code: string, more: object = {}): Promise<Ran> {
    return await this.ended(this.execute(kernel, code, more));
  }

  async ended(cell: string): Promise<Ran> {
    const end = await this.until(`the end of ${cell}`, (event) => event.event === 'end' && event.cell === cell);
    const said = this.events.slice(0, this.events.indexOf(end)).filter((event) => event.cell === cell);
    const outputs = said.flatMap(({ output }) => (output ? [output as Output] : []));
    const text = (name: string) =>
      outputs.flatMap((output) => (output.name === name ? [output.text ?? ''] : [])).join('');
    return { end, said, outputs, stdout: text('stdout'), stderr: text('stderr') };
  }

  async event(name: string): Promise<Event> {
    return await this.until(name, ({ event }) => event === name);
  }

  /** The first matching event, past or future. */
  async until(what: string, isIt: (event: Event) => boolean): Promise<Event> {
    let isLate = false;
    const onLate = () => {
      isLate = true;
      this.#tell();
    };
    using _timeout = fairTimeout(onLate, waitMs);
    for (;;) {
      const found = this.events.find(isIt);
      if (found) return found;
      if (isLate) throw new Error(`${what} did not arrive; received: ${this.#received()}`);
      await this.#more();
    }
  }

  #received(): string {
    return JSON.stringify(this.events.slice(-10)).slice(0, 2000);
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake.add(resolve);
    await promise;
    this.#wake.delete(resolve);
  }

  #tell(): void {
    for (const wake of this.#wake) wake();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of this.child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      this.events.push(...lines.map((line) => JSON.parse(line) as Event));
      this.#tell();
    }
  }
}

export interface Output {
  readonly output_type: string;
  readonly execution_count?: unknown;
  readonly metadata?: unknown;
  readonly name?: string;
  readonly text?: string;
  readonly data?: Record<string, unknown>;
  readonly ename?: string;
  readonly evalue?: string;
  readonly traceback?: readonly string[];
}

export interface Ran {
  readonly end: Event;
  readonly said: readonly Event[];
  readonly outputs: readonly Output[];
  readonly stdout: string;
  readonly stderr: string;
}
