/** The base of every test: its own init in its own directory, and nothing left behind. */
import { test } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { FairClock } from '../../test/harness/fair-clock.ts';
import {
  Connection,
  decodeStatus,
  encodeRequest,
  fields,
  parseJournal,
  type,
  within,
  type Frame,
  type Journal,
  type Request,
  type Status,
} from './keeper-client.ts';

const folder = import.meta.dirname;

/** The program under test. */
export const program = process.env.BOXKEEP_NATIVE ?? join(folder, '..', 'build', 'boxkeep-native');
export const isSanitized = program.includes('sanitize');
export const isRoot = process.geteuid?.() === 0;

/** A test of accounts, mounts or PID 1. Without root it fails with one line that says what to do. */
export const rootTest: typeof test = isRoot ? test : refusingTest();

function refusingTest(): typeof test {
  const refuse = (name: string) => {
    test(name, () => {
      throw new Error('needs root: run npm test as root, or in a container');
    });
  };
  return Object.assign(refuse, { each: () => refuse, if: () => refuse }) as unknown as typeof test;
}
const bun = process.execPath;
const daemonScript = join(folder, 'fixtures', 'daemon.ts');

/** Distinguishes the processes of one test from all others. */
const markName = 'BOXKEEP_NATIVE_TEST';

export type DaemonLine = Record<string, unknown> & { event?: string; signal?: string };

export interface InitOptions {
  behaviour?: string;
  env?: Record<string, string>;
  arguments?: string[];
  /** A command prefix that starts the program, for example in a pid namespace. */
  wrapper?: string[];
  /** A program that runs beside init without the keys, as in an image. */
  beside?: string[];
  directory?: string;
  cwd?: string;
}

/** Polls until a condition without an event holds, up to a deadline in fair time. */
export async function untilAsync(what: string, isTrue: () => Promise<boolean>, deadlineMs = 15_000): Promise<void> {
  using clock = new FairClock();
  while (!(await isTrue())) {
    if (clock.elapsedMs > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export async function until(what: string, isTrue: () => boolean, deadlineMs?: number): Promise<void> {
  return untilAsync(what, async () => isTrue(), deadlineMs);
}

export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // the process is gone, which is an answer
  }
}

/** The fields of /proc/<pid>/stat from the state on. */
export function statFields(pid: number): string[] {
  return readProc(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
}

/** Whether the writable memory of a process contains a text. Shadow memory of a sanitizer is larger than the limit. */
export function memoryHolds(pid: number, text: string): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      .filter((line) => / rw.. /.test(line))
      .some((line) => {
        const [from = 0n, to = 0n] = (line.split(' ')[0] ?? '').split('-').map((word) => BigInt(`0x${word}`));
        const bytes = Buffer.alloc(Number(to - from) > 2 ** 26 ? 0 : Number(to - from));
        return bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, from)).includes(text);
      });
  } finally {
    closeSync(memory);
  }
}

export function isAlive(pid: number): boolean {
  const [state] = statFields(pid);
  return state !== undefined && state !== '' && state !== 'Z' && state !== 'X';
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** init as a child of the test, with the lines its daemon prints. */
export class Init {
  readonly lines: DaemonLine[] = [];
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  stderr = '';
  #news = Promise.withResolvers<void>();
  #read = 0;

  constructor(
    readonly child: ChildProcess,
    readonly runtime: string,
    readonly isWrapped: boolean,
  ) {
    const exit = Promise.withResolvers<{ code: number | null; signal: string | null }>();
    this.exit = exit.promise;
    child.on('close', (code, signal) => {
      exit.resolve({ code, signal });
      this.#wake();
    });
    if (!child.stdout || !child.stderr) throw new Error('init was started without pipes');
    createInterface(child.stdout).on('line', (line) => {
      this.lines.push(JSON.parse(line) as DaemonLine);
      this.#wake();
    });
    child.stderr.on('data', (text: Buffer) => {
      this.stderr += text.toString();
    });
  }

  /** init's own pid, as seen from outside any namespace. */
  get pid(): number {
    if (this.child.pid === undefined) throw new Error('init did not start');
    if (!this.isWrapped) return this.child.pid;
    return Number(readProc(this.child.pid, `task/${this.child.pid}/children`).split(' ')[0]);
  }

  kill(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  /** The next line of the daemon with this event or signal. */
  async line(wanted: { event?: string; signal?: string }): Promise<DaemonLine> {
    const find = async (): Promise<DaemonLine> => {
      for (;;) {
        while (this.#read < this.lines.length) {
          const line = this.lines[this.#read++];
          if (line && line.event === wanted.event && line.signal === wanted.signal) return line;
        }
        if (this.child.exitCode !== null) throw new Error(`init has ended: ${this.child.exitCode} ${this.stderr}`);
        await this.#news.promise;
      }
    };
    return within(`line ${JSON.stringify(wanted)}`, find());
  }

  async ended(): Promise<{ code: number | null; signal: string | null }> {
    return within('end of init', this.exit);
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}

/** One running command. */
export interface Running {
  connection: Connection;
  directory: string;
  status: Status;
}

/** A test's own directory, inits and processes. */
export class Stage implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'boxkeep-native-'));
  readonly #mark = this.directory;
  readonly #inits: Init[] = [];
  readonly #connections: Connection[] = [];
  readonly #pids = new Map<number, string>();
  #count = 0;

  /** Starts an init and waits until its daemon serves. */
  static async start(options: InitOptions = {}): Promise<Stage> {
    const stage = new Stage();
    await stage.startInit(options);
    return stage;
  }

  get init(): Init {
    const init = this.#inits[0];
    if (!init) throw new Error('no init');
    return init;
  }

  get env(): string[] {
    const path = 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
    // An interactive shell without a history file leaves none behind.
    return [path, 'HOME=/', 'HISTFILE=', 'LANG=C', `${markName}=${this.#mark}`];
  }

  launchInit(options: InitOptions = {}): Init {
    const runtime = options.directory ?? join(this.directory, 'runtime');
    mkdirSync(runtime, { recursive: true, mode: 0o700 });
    const command = [
      ...(options.wrapper ?? []),
      program,
      `--daemon=${bun}`,
      `--daemon=${daemonScript}`,
      ...(options.beside ? ['hold-key', ...options.beside] : ['start', ...(options.arguments ?? []), runtime]),
    ];
    const [first = program, ...rest] = command;
    const child = spawn(first, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd,
      env: {
        PATH: process.env.PATH,
        [markName]: this.#mark,
        TEST_DAEMON: options.behaviour ?? '',
        ...(options.beside ? { TEST_RUNTIME: runtime } : {}),
        ASAN_OPTIONS: `detect_leaks=0:log_path=${join(this.directory, 'sanitizer')}`,
        UBSAN_OPTIONS: 'print_stacktrace=1',
        ...options.env,
      },
    });
    const init = new Init(child, runtime, options.wrapper !== undefined);
    this.#inits.push(init);
    return init;
  }

  async startInit(options: InitOptions = {}): Promise<Init> {
    const init = this.launchInit(options);
    await init.line({ event: 'ready' });
    return init;
  }

  async connect(init: Init = this.init): Promise<Connection> {
    return this.open(join(init.runtime, 'init.sock'));
  }

  async open(path: string): Promise<Connection> {
    const connection = await Connection.open(path);
    this.#connections.push(connection);
    return connection;
  }

  /** A fresh directory for a command. */
  newDirectory(): string {
    const directory = join(this.directory, `command-${this.#count++}`);
    mkdirSync(directory, { mode: 0o700 });
    return directory;
  }

  /** Sends a request and waits for SPAWNED or FAILED. */
  async request(
    request: Partial<Request> & { argv: string[] },
    init: Init = this.init,
  ): Promise<{ connection: Connection; directory: string; frame: Frame }> {
    const directory = request.directory ?? this.newDirectory();
    const connection = await this.connect(init);
    connection.send(type.spawn, encodeRequest({ env: this.env, ...request, directory }));
    const frame = await connection.next(type.spawned, type.failed);
    return { connection, directory, frame };
  }

  async run(request: Partial<Request> & { argv: string[] }): Promise<Running> {
    const { connection, directory, frame } = await this.request(request);
    if (frame.type === type.failed)
      throw new Error(`failed at stage ${frame.payload.readUInt32LE(0)} with errno ${frame.payload.readUInt32LE(4)}`);
    const status = decodeStatus(frame.payload);
    if (!this.init.isWrapped) for (const pid of [status.keeper, status.pid]) this.watchPid(pid);
    return { connection, directory, status };
  }

  /** Runs a shell script. */
  async shell(script: string, request: Partial<Request> = {}): Promise<Running> {
    return this.run({ ...request, argv: ['/bin/sh', '-c', script] });
  }

  /** Runs a shell script up to its exit. */
  async shellToEnd(script: string, request: Partial<Request> = {}): Promise<Running & { exited: Status }> {
    const running = await this.shell(script, request);
    return { ...running, exited: await running.connection.status(type.exited) };
  }

  /** A pid that must be gone at the end of the test. */
  watchPid(pid: number): void {
    this.#pids.set(pid, statFields(pid)[19] ?? '');
  }

  async failure(
    request: Partial<Request> & { argv: string[] },
  ): Promise<{ stage: number; errno: number; directory: string }> {
    const { connection, directory, frame } = await this.request(request);
    if (frame.type !== type.failed) throw new Error('it did not fail');
    await connection.ended;
    return { stage: frame.payload.readUInt32LE(0), errno: frame.payload.readUInt32LE(4), directory };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#connections) connection.close();
    for (const init of this.#inits) await this.#stop(init);
    await until('every process of the test is gone', () => this.survivors().length === 0, 10_000).catch(
      (error: unknown) => {
        const left = this.survivors().map((pid) => `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`);
        this.#killSurvivors();
        throw new Error(`processes left behind: ${left.join('; ')}`, { cause: error });
      },
    );
    const reports = this.sanitizerReports();
    rmSync(this.directory, { recursive: true, force: true });
    if (reports !== '') throw new Error(reports);
  }

  sanitizerReports(): string {
    const names = readdirSync(this.directory).filter((name) => name.startsWith('sanitizer'));
    return names.map((name) => readFileSync(join(this.directory, name), 'utf8')).join('\n');
  }

  async #stop(init: Init): Promise<void> {
    if (init.child.exitCode === null && init.child.signalCode === null) init.kill('SIGTERM');
    await within('end of init', init.exit, 12_000);
  }

  /** The live processes that this test started. */
  survivors(): number[] {
    const marked = allPids().filter((pid) => readProc(pid, 'environ').includes(`${markName}=${this.#mark}`));
    const watched = [...this.#pids].filter(([pid, start]) => statFields(pid)[19] === start).map(([pid]) => pid);
    return [...new Set([...marked, ...watched])].filter(isAlive);
  }

  #killSurvivors(): void {
    for (const pid of this.survivors()) process.kill(pid, 'SIGKILL');
  }
}

/* ---- helpers that many tests use ---- */

export function readLog(running: { directory: string }, name: 'out' | 'err' = 'out'): string {
  const path = join(running.directory, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

export function readJournal(running: { directory: string }): Journal {
  return parseJournal(readFileSync(join(running.directory, 'journal'), 'utf8'));
}

export async function waitForLog(
  running: { directory: string },
  text: string | RegExp,
  name: 'out' | 'err' = 'out',
): Promise<string> {
  const isThere = (): boolean => {
    const log = readLog(running, name);
    return typeof text === 'string' ? log.includes(text) : text.test(log);
  };
  await until(`${String(text)} in ${name}`, isThere).catch((error: unknown) => {
    throw new Error(`the log is ${JSON.stringify(readLog(running, name).slice(-400))}`, { cause: error });
  });
  return readLog(running, name);
}

/** Requests one DATA frame past these offsets and waits for it. */
export async function waitForOutput({ connection }: Running, out = 0, err = 0): Promise<[number, number]> {
  connection.send(type.watch, fields([64, out], [64, err]));
  const { payload } = await connection.next(type.data);
  return [Number(payload.readBigUInt64LE(0)), Number(payload.readBigUInt64LE(8))];
}

export async function signal(
  { connection }: Running,
  number: number,
  where: number,
): Promise<{ processes: number; errno: number }> {
  connection.send(type.signal, fields([32, number], [32, where]));
  const { payload } = await connection.next(type.signalled);
  return { processes: payload.readUInt32LE(0), errno: payload.readUInt32LE(4) };
}

export function terminate({ connection }: Running, graceMs: number, cause = 1): void {
  connection.send(type.terminate, fields([32, graceMs], [32, cause]));
}

export async function sendStdin(
  { connection }: Running,
  offset: number,
  bytes: string | Uint8Array,
): Promise<[number, number]> {
  connection.send(
    type.stdin,
    Buffer.concat([fields([64, offset]), typeof bytes === 'string' ? Buffer.from(bytes) : bytes]),
  );
  return stdinState(connection);
}

export async function stdinState(connection: Connection): Promise<[number, number]> {
  const { payload } = await connection.next(type.stdinState);
  return [Number(payload.readBigUInt64LE(0)), Number(payload.readBigUInt64LE(8))];
}

export function endStdin({ connection }: Running, offset: number): void {
  connection.send(type.eof, fields([64, offset]));
}

export async function tree({ connection }: Running): Promise<number[]> {
  connection.send(type.tree);
  const { payload } = await connection.next(type.treeState);
  return Array.from({ length: payload.readUInt32LE(0) }, (_, index) => payload.readUInt32LE(4 + 4 * index));
}
