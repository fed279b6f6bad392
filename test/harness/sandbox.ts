/** One daemon of its own for each test, reached over a socket, and checked for leaks when the test is over. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { expect, test as bunTest } from 'bun:test';
import type { Subprocess } from 'bun';
import { exceptionHere } from './exceptions.ts';
import { enter, rootKind, type Ids } from './root.ts';
import { until } from './until.ts';

export { expect } from 'bun:test';

export const repositoryRoot = dirname(dirname(import.meta.dirname));
const markerVariable = 'SANDBOXD_TEST_ID';
const testTimeoutMs = 60_000;
const stopDeadlineMs = 9000;

type Environment = Readonly<Record<string, string>>;

export interface SandboxOptions {
  readonly args?: readonly string[];
  readonly env?: Environment | ((sandbox: Sandbox) => Environment);
  /** Log messages of level warn or error that the test provokes. */
  readonly expectedWarnings?: readonly string[];
  /** Run the launcher through another program, for example `unshare`. */
  readonly launcher?: readonly string[];
  /** Run it as this account, without other groups. */
  readonly account?: Ids;
  /** Where the program under test is found; the repository otherwise. */
  readonly root?: (sandbox: Sandbox) => string;
  /** Of a test that takes longer than a minute. */
  readonly timeoutMs?: number;
  /** Called when the directories exist, before the daemon starts. */
  readonly prepare?: (sandbox: Sandbox) => void;
  /** Called when everything of it is gone, whatever became of the test. */
  readonly afterwards?: (sandbox: Sandbox) => Promise<void>;
}

export interface Upgrade {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface EnvelopeBody {
  readonly success: boolean;
  readonly message: string;
  readonly data: JsonObject;
  readonly hint: string | null;
  readonly errors?: readonly { readonly location: string; readonly message: string; readonly type: string }[];
}

export interface JsonObject {
  readonly [key: string]: Json;
}
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads answers as a client without types does
export type Json = any;

/** The command line of the program under test, in the root that is asked for. */
export function launchCommand(): string[] {
  return [...enter(null), ...program()];
}

/** The same for a client, whose signals have to reach it: it is not put behind a namespace of processes. */
export function clientCommand(): string[] {
  return rootKind === 'pid1' ? program() : launchCommand();
}

/** The sources, or the built file. */
export function program(root = repositoryRoot): string[] {
  if (process.env['SANDBOXD_TARGET'] === 'binary') return [join(root, 'dist/sandboxd')];
  const bun = join(root, 'node_modules/.bin/bun');
  const native = process.env['SANDBOXD_NATIVE'] ?? join(root, 'native/build/sandboxd-native');
  // Nothing is read from the directory the daemon is started in, as in the built file.
  const daemon = [bun, '--no-env-file', '--config=/dev/null', join(root, 'daemon/src/main.ts')];
  return [native, ...daemon.map((argument) => `--daemon=${argument}`)];
}

/** A program under test/fixtures, by its name. */
export function fixture(name: string): string {
  return join(repositoryRoot, 'test/fixtures', name);
}

export class Sandbox {
  readonly id = randomUUID();
  /** Removed at the end; world-readable, so that other accounts can work in it. */
  readonly directory: string;
  readonly runtimeDirectory: string;
  /** Everything the daemon and its launcher wrote. */
  stdout = '';
  stderr = '';
  url = '';
  #process: Subprocess<'ignore', 'pipe', 'pipe'> | null = null;
  #served = 0;
  #idleDescriptors = 0;

  constructor(readonly options: SandboxOptions = {}) {
    this.directory = mkdtempSync(join(tmpdir(), 'sandboxd-test-'));
    this.runtimeDirectory = join(this.directory, 'runtime');
    mkdirSync(join(this.directory, 'tmp'));
  }

  static async start(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    options.prepare?.(sandbox);
    try {
      await sandbox.launch();
      return sandbox;
    } catch (error) {
      // One that came up too late would stay for ever.
      sandbox.dispose();
      await options.afterwards?.(sandbox);
      throw error;
    }
  }

  async launch(): Promise<void> {
    const { args = [], env = {}, launcher = [], account = null } = this.options;
    const given = typeof env === 'function' ? env(this) : env;
    const before = [...launcher, ...enter(account)];
    const [inside, outside] = split(Object.entries(given), ([name]) => before.length > 0 && name.startsWith('LD_'));
    const flags = ['start', '--port', '0', '--runtime-dir', this.runtimeDirectory, ...args];
    const command = [...before, ...setBehind(inside), ...program(this.options.root?.(this))];
    this.#process = Bun.spawn([...command, ...flags], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: this.directory,
      env: {
        PATH: process.env['PATH'],
        TMPDIR: join(this.directory, 'tmp'),
        [markerVariable]: this.id,
        ...Object.fromEntries(outside),
      },
    });
    void this.#collect(this.#process.stdout, 'stdout');
    void this.#collect(this.#process.stderr, 'stderr');
    await this.served();
  }

  /** Resolves when the daemon has said once more that it serves; after the first time, a restart. */
  async served(): Promise<void> {
    const wanted = ++this.#served;
    const lines = () => this.logLines().filter((line) => line['message'] === 'serving');
    await until('the daemon serves', () => lines().length >= wanted || this.#process?.exitCode !== null);
    const last = lines()[wanted - 1];
    if (!last) throw new Error(`the daemon ended with ${this.#process?.exitCode}:\n${this.stdout}${this.stderr}`);
    this.url = last['url'] as string;
    this.#idleDescriptors = this.#foreignDescriptors().length;
  }

  /** Runs `sandboxd upgrade`, of the program under test or of another one, to its end. */
  async upgrade(command = clientCommand(), args: readonly string[] = []): Promise<Upgrade> {
    const flags = ['upgrade', '--runtime-dir', this.runtimeDirectory, ...args];
    const client = Bun.spawn([...command, ...flags], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: this.directory,
      env: { PATH: process.env['PATH'], TMPDIR: join(this.directory, 'tmp'), [markerVariable]: this.id },
    });
    const [stdout, stderr] = await Promise.all([client.stdout.text(), client.stderr.text()]);
    return { code: await client.exited, stdout, stderr };
  }

  /** The pid of init. One in a PID namespace is the child of what has made that. */
  get initPid(): number {
    let pid = this.#process?.pid ?? 0;
    while (readProcess(String(pid), 'comm') === 'unshare\n') pid = childrenOf(pid)[0] ?? 0;
    return pid;
  }

  get #isForked(): boolean {
    return this.initPid !== this.#process?.pid;
  }

  /** The pid of the daemon process, as its newest log line tells. */
  get toldPid(): number {
    const served = this.logLines().filter((line) => line['message'] === 'serving');
    return served.at(-1)?.['pid'] as number;
  }

  /** The same process, as it is numbered here. */
  get daemonPid(): number {
    return this.#pidHere(this.toldPid);
  }

  /** A PID namespace has numbers of its own: finds the child of init that is called so there. */
  #pidHere(pid: number): number {
    if (!this.#isForked) return pid;
    const isMeant = (child: number) =>
      /^NSpid:.*\s(\d+)$/m.exec(readProcess(String(child), 'status'))?.[1] === `${pid}`;
    return childrenOf(this.initPid).find(isMeant) ?? 0;
  }

  logLines(): JsonObject[] {
    return this.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JsonObject);
  }

  async fetch(route: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
    const [method = 'GET', path = '/'] = route.split(' ');
    const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    // No connection is kept: an idle one would count as a leaked descriptor.
    return fetch(`${this.url}${path}`, { method, keepalive: false, redirect: 'manual', ...payload, ...init });
  }

  async request(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply<EnvelopeBody>> {
    const response = await this.fetch(route, body, { headers });
    return { status: response.status, headers: response.headers, body: (await response.json()) as EnvelopeBody };
  }

  /** The `data` of an answer that must be a success. */
  async ok(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<JsonObject> {
    const reply = await this.request(route, body, headers);
    if (reply.status !== 200) throw new Error(`${route}: ${reply.status} ${JSON.stringify(reply.body)}`);
    expect(reply.body.success).toBe(true);
    return reply.body.data;
  }

  /** Runs a command to its end. */
  run(body: Record<string, unknown>): Promise<JsonObject> {
    return this.ok('POST /v2/commands', body);
  }

  /** Starts a command and answers at once. */
  async start(body: Record<string, unknown>): Promise<string> {
    return (await this.ok('POST /v2/commands', { ...body, mode: 'async' }))['command_id'] as string;
  }

  /** The record of a command once it has ended. */
  async ended(commandId: string): Promise<JsonObject> {
    const read = () =>
      this.ok(`GET /v2/commands/${commandId}?wait=true&wait_timeout=5&offset=${Number.MAX_SAFE_INTEGER}`);
    let record = (await read())['command'] as JsonObject;
    while (record['status'] === 'running') record = (await read())['command'] as JsonObject;
    return record;
  }

  /** The lines of an NDJSON stream as they come. */
  async *lines(path: string, signal?: AbortSignal): AsyncGenerator<JsonObject> {
    const response = await this.fetch(`GET ${path}`, undefined, {
      headers: { accept: 'application/x-ndjson' },
      ...(signal ? { signal } : {}),
    });
    expect(response.status).toBe(200);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true });
      const whole = rest.split('\n');
      rest = whole.pop() ?? '';
      for (const line of whole) yield JSON.parse(line) as JsonObject;
    }
    expect(rest).toBe('');
  }

  /** Every line of a stream, to its end. */
  async allLines(commandId: string, query = ''): Promise<JsonObject[]> {
    return Array.fromAsync(this.lines(`/v2/commands/${commandId}?stream=true${query}`));
  }

  /** Living processes that descend from this sandbox, wherever they went: they carry its mark, as its launcher does. */
  processes(): { pid: number; command: string }[] {
    const mark = `${markerVariable}=${this.id}`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => readProcess(pid, 'environ').split('\0').includes(mark))
      .map((pid) => ({ pid: Number(pid), command: readProcess(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
      .filter(({ pid }) => !this.#isForked || pid !== this.#process?.pid);
  }

  /** Pids of the living keepers that have a command: their titles are their own, so they are known by their parent. */
  keepers(title = 'sandboxd: keeper'): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && readProcess(name, 'cmdline').startsWith(title))
      .filter((name) => readProcess(name, 'stat').split(') ').at(-1)?.split(' ')[1] === String(this.initPid))
      .map(Number);
  }

  /** The keeper that waits for the next command. */
  spareKeepers(): number[] {
    return this.keepers('sandboxd: spare keeper');
  }

  /** Open descriptors of the daemon process. */
  descriptors(): string[] {
    const directory = `/proc/${this.daemonPid}/fd`;
    return readdirSync(directory).map((name) => {
      try {
        return readlinkSync(`${directory}/${name}`);
      } catch {
        return 'closed'; // It went while we looked.
      }
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#isForked && this.initPid > 0) process.kill(this.initPid, signal);
    else this.#process?.kill(signal);
  }

  exited(): Promise<number> {
    return this.#process?.exited ?? Promise.resolve(0);
  }

  /** SIGTERM, as a supervisor sends it; answers the exit code. */
  async stop(): Promise<number> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), stopDeadlineMs);
    const code = await this.exited();
    clearTimeout(timer);
    return code;
  }

  /** What a finished test must not leave: warnings, processes, descriptors, files. */
  async close(): Promise<void> {
    try {
      if (this.#process?.exitCode === null) {
        await this.#expectNoDescriptors();
        const keepers = this.keepers();
        expect(await this.stop()).toBe(0);
        expect(keepers.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
      }
      await until('every process of the sandbox is gone', () => this.processes().length === 0).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}: ${JSON.stringify(this.processes())}`);
        },
      );
      expect(this.#unexpectedWarnings()).toEqual([]);
      expect(this.stderr).toBe('');
      // The built file unpacks itself there when nothing else is its own; that is kept for the next start.
      expect(readdirSync(join(this.directory, 'tmp')).filter((name) => !name.startsWith('sandboxd-bin-'))).toEqual([]);
    } finally {
      this.dispose();
      await this.options.afterwards?.(this);
    }
  }

  /** Without a look back: a failed test must leave nothing either. */
  dispose(): void {
    for (const pid of [...this.keepers(), ...this.processes().map((process) => process.pid)]) end(pid);
    this.signal('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Running commands hold a connection each; everything else a test opened must be closed again. */
  async #expectNoDescriptors(): Promise<void> {
    const isClosed = () => this.#foreignDescriptors().length <= this.#idleDescriptors + this.keepers().length;
    await until('the daemon has closed what the test opened', isClosed).catch((error: unknown) => {
      throw new Error(
        `${String(error)}: ${JSON.stringify({ keepers: this.keepers(), descriptors: this.descriptors() })}`,
      );
    });
  }

  /** Sockets and files of the runtime directory: what requests and commands make the daemon open. */
  #foreignDescriptors(): string[] {
    return this.descriptors().filter(
      (target) => target.startsWith('socket:') || target.startsWith(this.runtimeDirectory),
    );
  }

  #unexpectedWarnings(): JsonObject[] {
    const expected = this.options.expectedWarnings ?? [];
    return this.logLines().filter(
      (line) =>
        (line['level'] === 'warn' || line['level'] === 'error') && !expected.includes(line['message'] as string),
    );
  }

  async #collect(stream: ReadableStream<Uint8Array>, name: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
      this[name] += decoder.decode(chunk, { stream: true });
  }
}

/** A test with a daemon of its own. */
export function test(
  name: string,
  body: (context: { sandbox: Sandbox }) => Promise<void>,
  options: SandboxOptions = {},
): void {
  const exception = exceptionHere(name);
  if (exception !== null) {
    bunTest.skip(`${name} (not in the root under test: ${exception})`, () => undefined);
    return;
  }
  bunTest(
    name,
    async () => {
      const sandbox = await Sandbox.start(options);
      try {
        await body({ sandbox });
      } catch (error) {
        console.error(sandbox.stdout, sandbox.stderr);
        await sandbox.close().catch(() => null); // The failure of the test is the one to be told.
        throw error;
      }
      await sandbox.close();
    },
    options.timeoutMs ?? testTimeoutMs,
  );
}

/** A launcher has a loader too: what steers one is set behind it. */
function setBehind(variables: readonly [string, string][]): string[] {
  return variables.length === 0 ? [] : ['env', ...variables.map(([name, value]) => `${name}=${value}`)];
}

function split<T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

function childrenOf(pid: number): number[] {
  return readProcess(String(pid), `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // It ended while we looked.
  }
}
