/** Starts a separate daemon for each test, sends it requests, and checks it for leaks after the test. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test as bunTest } from 'bun:test';
import type { Subprocess } from 'bun';
import { compiledDaemon } from '../../tools/repository.mjs';
import { testId } from '../../tools/test-run.mjs';
import { programEnvironment } from './closed-ports.ts';
import { exceptionHere } from './exceptions.ts';
import { fairTimeout, hangMs, within } from './fair-clock.ts';
import { Home } from './home.ts';
import { enter, rootKind, type Ids } from './root.ts';
import { strangeNamesOf } from './advice-words.ts';
import { undescribedCode } from './described-codes.ts';
import { until } from './until.ts';

export { expect } from 'bun:test';

export const repositoryRoot = dirname(dirname(import.meta.dirname));
const markerVariable = 'BOXKEEP_TEST_ID';
const testLimitMs = 60_000;
const stopDeadlineMs = 9000;

type Environment = Readonly<Record<string, string>>;

export interface SandboxOptions {
  readonly args?: readonly string[];
  readonly env?: Environment | ((sandbox: Sandbox) => Environment);
  /** Log messages of level warn or error that the test provokes. */
  readonly expectedWarnings?: readonly string[];
  /** Runs the launcher through another program, for example `unshare`. */
  readonly launcher?: readonly string[];
  /** Runs the launcher as this account, without supplementary groups. */
  readonly account?: Ids;
  /** The directory of the program under test. The default is the repository. */
  readonly root?: (sandbox: Sandbox) => string;
  /** For a test that takes longer than a minute of fair time. */
  readonly timeoutMs?: number;
  /** Called after the directories are made and before the daemon starts. */
  readonly prepare?: (sandbox: Sandbox) => void;
  /** Called after everything is removed, whether the test passed or failed. */
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

/** The command line of the program under test, inside the selected root. */
export function launchCommand(): string[] {
  return [...enter(null), ...program()];
}

/** The command line of a client. A client runs outside of the PID namespace, so that signals reach it. */
export function clientCommand(): string[] {
  return rootKind === 'pid1' ? program() : launchCommand();
}

/** The built binary, or the native program with a daemon from the sources, which `npm test` compiles once. */
export function program(root = repositoryRoot): string[] {
  if (process.env['BOXKEEP_TARGET'] === 'binary') return [join(root, 'dist/boxkeep')];
  if (process.env['BOXKEEP_TARGET'] === 'arm64') return [join(root, 'dist/boxkeep-arm64')];
  if (process.env['BOXKEEP_TARGET'] === 'compiled') return withDaemon(root, [join(root, compiledDaemon)]);
  return sourceProgram(root);
}

/** The native program with a daemon that runs from the sources of a copy of the repository. */
export function sourceProgram(root: string): string[] {
  const bun = join(root, 'node_modules/.bin/bun');
  // As in the built binary, no configuration is read from the working directory.
  return withDaemon(root, [bun, '--no-env-file', '--config=/dev/null', join(root, 'daemon/src/main.ts')]);
}

function withDaemon(root: string, daemon: readonly string[]): string[] {
  const native = process.env['BOXKEEP_NATIVE'] ?? join(root, 'native/build/boxkeep-native');
  return [native, ...daemon.map((argument) => `--daemon=${argument}`)];
}

/** The path of a program in test/fixtures. */
export function fixture(name: string): string {
  return join(repositoryRoot, 'test/fixtures', name);
}

export class Sandbox {
  readonly id = testId();
  /** Removed at the end. World-readable, so that other accounts can work in it. */
  readonly directory: string;
  readonly runtimeDirectory: string;
  /** Everything that the daemon and its launcher wrote. */
  stdout = '';
  stderr = '';
  url = '';
  readonly home: Home;
  #process: Subprocess<'ignore', 'pipe', 'pipe'> | null = null;
  #served = 0;
  #idleDescriptors = 0;

  constructor(readonly options: SandboxOptions = {}) {
    this.directory = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
    this.runtimeDirectory = join(this.directory, 'runtime');
    mkdirSync(join(this.directory, 'tmp'));
    this.home = new Home(this.directory);
  }

  static async start(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(options);
    options.prepare?.(sandbox);
    try {
      await sandbox.launch();
      return sandbox;
    } catch (error) {
      // A daemon that starts after the failure must not stay.
      sandbox.dispose();
      await options.afterwards?.(sandbox);
      throw error;
    }
  }

  async launch(): Promise<void> {
    const { args = [], env = {}, launcher = [], account = null } = this.options;
    const given = typeof env === 'function' ? env(this) : env;
    const before = [...this.home.launcher, ...launcher, ...enter(account)];
    const [inside, outside] = split(Object.entries(given), ([name]) => before.length > 0 && name.startsWith('LD_'));
    const flags = ['start', '--port', '0', '--runtime-dir', this.runtimeDirectory, ...args];
    const command = [...before, ...setAfter(inside), ...program(this.options.root?.(this))];
    this.#process = Bun.spawn([...command, ...flags], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: this.directory,
      env: programEnvironment({
        TMPDIR: join(this.directory, 'tmp'),
        SVC_MCP_ANSWERS: 'structured', // Tests compare facts rather than texts.
        HISTFILE: '', // Shells whose home is shared must not leave a history there.
        [markerVariable]: this.id,
        ...Object.fromEntries(outside),
      }),
    });
    void this.#collect(this.#process.stdout, 'stdout');
    void this.#collect(this.#process.stderr, 'stderr');
    await this.served();
  }

  /** Resolves when the daemon reports once more that it serves. After the first time, that is a restart. */
  async served(): Promise<void> {
    const wanted = ++this.#served;
    const lines = () => this.logLines().filter((line) => line['message'] === 'serving');
    await until('the daemon serves', () => lines().length >= wanted || this.#process?.exitCode !== null);
    const last = lines()[wanted - 1];
    if (!last) throw new Error(`the daemon ended with ${this.#process?.exitCode}:\n${this.stdout}${this.stderr}`);
    this.url = last['url'] as string;
    this.#idleDescriptors = this.#foreignDescriptors().length - this.spareKeepers().length;
  }

  /** Runs `boxkeep upgrade` of the program under test or of another program, to its end. */
  async upgrade(command = clientCommand(), args: readonly string[] = []): Promise<Upgrade> {
    const flags = ['upgrade', '--runtime-dir', this.runtimeDirectory, ...args];
    const client = Bun.spawn([...command, ...flags], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: this.directory,
      env: programEnvironment({ TMPDIR: join(this.directory, 'tmp'), [markerVariable]: this.id }),
    });
    const [stdout, stderr] = await Promise.all([client.stdout.text(), client.stderr.text()]);
    return { code: await client.exited, stdout, stderr };
  }

  /** The pid of init. In a PID namespace, init is a child of the process that made the namespace. */
  get initPid(): number {
    let pid = this.#process?.pid ?? 0;
    while (readProcess(String(pid), 'comm') === 'unshare\n') pid = childrenOf(pid)[0] ?? 0;
    return pid;
  }

  get #isForked(): boolean {
    return this.initPid !== this.#process?.pid;
  }

  /** The pid of the daemon process, from its newest log line. */
  get loggedPid(): number {
    const served = this.logLines().filter((line) => line['message'] === 'serving');
    return served.at(-1)?.['pid'] as number;
  }

  /** The pid of the same process outside its PID namespace. */
  get daemonPid(): number {
    return this.#pidHere(this.loggedPid);
  }

  /** A PID namespace has its own numbers, so this finds the child of init with the given inner pid. */
  #pidHere(pid: number): number {
    if (!this.#isForked) return pid;
    const isMeant = (child: number) =>
      /^NSpid:.*\s(\d+)$/m.exec(readProcess(String(child), 'status'))?.[1] === `${pid}`;
    const child = childrenOf(this.initPid).find(isMeant);
    // A signal to process 0 would reach the whole test run.
    if (child === undefined) throw new Error(`init has no child ${pid}`);
    return child;
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
    // Connections are not kept alive: an idle one would count as a leaked descriptor.
    return fetch(`${this.url}${path}`, { method, keepalive: false, redirect: 'manual', ...payload, ...init });
  }

  async request(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply<EnvelopeBody>> {
    const response = await this.fetch(route, body, { headers });
    const reply = { status: response.status, headers: response.headers, body: (await response.json()) as EnvelopeBody };
    const { success, hint, data } = reply.body;
    expect(undescribedCode(route, reply.status, data)).toBeNull();
    if (!success && typeof hint === 'string' && route.includes(' /v1/'))
      expect([hint, strangeNamesOf(route, hint, JSON.stringify([route, body]))]).toEqual([hint, []]);
    return reply;
  }

  /** The `data` of an answer. Throws unless the answer is a success. */
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

  /** Starts a command and returns its id at once. */
  async start(body: Record<string, unknown>): Promise<string> {
    return (await this.ok('POST /v2/commands', { ...body, mode: 'async' }))['command_id'] as string;
  }

  /** The record of a command after its end. */
  async ended(commandId: string): Promise<JsonObject> {
    const read = () =>
      this.ok(`GET /v2/commands/${commandId}?wait=true&wait_timeout=5&offset=${Number.MAX_SAFE_INTEGER}`);
    let record = (await read())['command'] as JsonObject;
    while (record['status'] === 'running') record = (await read())['command'] as JsonObject;
    return record;
  }

  /** The lines of an NDJSON stream as they arrive. */
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

  /** Every line of a stream, up to its end. */
  async allLines(commandId: string, query = ''): Promise<JsonObject[]> {
    return Array.fromAsync(this.lines(`/v2/commands/${commandId}?stream=true${query}`));
  }

  /**
   * The living processes of this sandbox, wherever they moved. Their environment carries the sandbox's mark, as the
   * launcher's does.
   */
  processes(): { pid: number; command: string }[] {
    const mark = `${markerVariable}=${this.id}`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => readProcess(pid, 'environ').split('\0').includes(mark))
      .map((pid) => ({ pid: Number(pid), command: readProcess(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
      .filter(({ pid }) => !this.#isForked || pid !== this.#process?.pid);
  }

  /**
   * Pids of the living keepers that have a command. Keepers overwrite their environment, so they are found by title
   * and parent.
   */
  keepers(title = 'boxkeep: keeper'): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && readProcess(name, 'cmdline').startsWith(title))
      .filter((name) => readProcess(name, 'stat').split(') ').at(-1)?.split(' ')[1] === String(this.initPid))
      .map(Number);
  }

  /** The keepers that wait for the next command. */
  spareKeepers(): number[] {
    return this.keepers('boxkeep: spare keeper');
  }

  /** Names of the command directories that are ready for the next commands. */
  spareDirectories(): string[] {
    const commands = join(this.runtimeDirectory, 'commands');
    return readdirSync(commands).filter((name) => existsSync(join(commands, name, 'old-journal')));
  }

  /** Open descriptors of the daemon process. */
  descriptors(): string[] {
    const directory = `/proc/${this.daemonPid}/fd`;
    return readdirSync(directory).map((name) => {
      try {
        return readlinkSync(`${directory}/${name}`);
      } catch {
        return 'closed'; // The descriptor was closed during the read.
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

  /** Sends SIGTERM, as a supervisor does, and returns the exit code. */
  async stop(): Promise<number> {
    this.signal('SIGTERM');
    using _timeout = fairTimeout(() => this.signal('SIGKILL'), stopDeadlineMs);
    return await this.exited();
  }

  /** Checks that a finished test leaves no warnings, processes, descriptors or files. */
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
      // If no other place is available, the built binary unpacks itself here, and the files are kept for the next
      // start.
      expect(readdirSync(join(this.directory, 'tmp')).filter((name) => !name.startsWith('boxkeep-bin-'))).toEqual([]);
    } finally {
      this.dispose();
      await this.options.afterwards?.(this);
    }
  }

  /** Removes everything without checks, because a failed test must leave nothing either. */
  dispose(): void {
    this.signal('SIGKILL'); // First, because a daemon starts keepers and shells anew.
    for (const pid of [...this.keepers(), ...this.processes().map((process) => process.pid)]) end(pid);
    rmSync(this.directory, { recursive: true, force: true });
    this.home[Symbol.dispose]();
  }

  /** Each keeper holds a connection, with or without a command. Everything else must be closed again. */
  async #expectNoDescriptors(): Promise<void> {
    const keepers = () => this.keepers().length + this.spareKeepers().length;
    const isClosed = () => this.#foreignDescriptors().length <= this.#idleDescriptors + keepers();
    await until('the daemon has closed what the test opened', isClosed).catch((error: unknown) => {
      throw new Error(
        `${String(error)}: ${JSON.stringify({ keepers: this.keepers(), descriptors: this.descriptors() })}`,
      );
    });
  }

  /** Sockets and files of the runtime directory, which requests and commands make the daemon open. */
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

/** A test with its own daemon. */
export function test(
  name: string,
  body: (context: { sandbox: Sandbox }) => Promise<void>,
  options: SandboxOptions = {},
): void {
  programTest(
    name,
    async () => {
      const sandbox = await Sandbox.start(options);
      try {
        await within('the end of the test', body({ sandbox }), options.timeoutMs ?? testLimitMs);
      } catch (error) {
        console.error(sandbox.stdout, sandbox.stderr);
        await sandbox.close().catch(() => null); // The test's own failure is the one to report.
        throw error;
      }
      await sandbox.close();
    },
    Math.max(hangMs, 2 * (options.timeoutMs ?? 0)),
  );
}

/** A test that starts what it needs. It is left out, in words, where the table of exceptions has its name. */
export function programTest(name: string, body: () => unknown, limitMs?: number): void {
  const exception = exceptionHere(name);
  if (exception === null) bunTest(name, body as () => Promise<void>, limitMs);
  else bunTest.skip(`${name} (left out: ${exception})`, () => undefined);
}

/** A launcher is dynamically linked too, so variables that affect the loader are set after it. */
function setAfter(variables: readonly [string, string][]): string[] {
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
    // The process has ended meanwhile.
  }
}

export function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // The process ended during the read.
  }
}
