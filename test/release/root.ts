/** Minimal root file systems, in which the built program runs as PID 1. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import { debianFiles } from '../harness/debian-files.ts';
import { repositoryRoot, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const endsWithinMs = 8000;

/** Mounts before chroot; the shell that mounts has the root as its working directory. */
const enter = 'cd "$1" && shift && eval "$1" && shift && exec chroot "$@"';
const withProc = 'mount -t proc proc proc';
/** Mounts for a root in which nothing can be written. */
export const readOnly = 'mount --bind . . && cd . && mount -o remount,bind,ro "$PWD" && cd "$PWD"';

export interface RootOptions {
  /** Shell commands that mount the root's file systems besides /proc. */
  readonly mounts?: string;
  readonly proc?: boolean;
  /** The uid and gid; root by default. */
  readonly account?: number;
  /** Programs of another machine need an emulator; this machine's by default. */
  readonly architecture?: 'arm64';
}

export class Root implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'boxkeep-root-'));
  readonly #options: RootOptions;

  constructor(options: RootOptions = {}) {
    if (process.getuid?.() !== 0) throw new Error('roots need root: run npm test as root, or in a container');
    this.#options = options;
    chmodSync(this.directory, 0o755);
    mkdirSync(join(this.directory, 'proc'));
    const built = options.architecture ? `boxkeep-${options.architecture}` : 'boxkeep';
    copyFileSync(join(repositoryRoot, 'dist', built), join(this.directory, 'boxkeep'));
  }

  /** Makes a directory in the root. */
  add(path: string, mode = 0o755): this {
    mkdirSync(join(this.directory, path), { recursive: true });
    chmodSync(join(this.directory, path), mode);
    return this;
  }

  /** Copies a file of a Debian package into the root, at the same or another path. */
  copy(from: string, to = from): this {
    this.add(dirname(to));
    cpSync(join(debianFiles(this.#options.architecture), from), join(this.directory, to), { dereference: true });
    return this;
  }

  /** Installs busybox under all of its names. */
  addBusybox(): this {
    this.copy('bin/busybox');
    const busybox = join(this.directory, 'bin/busybox');
    const names = spawnSync(busybox, ['--list'], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
    for (const name of names.filter((name) => name !== 'busybox')) linkSync(busybox, join(this.directory, 'bin', name));
    return this;
  }

  /** Installs a static shell that runs the programs on PATH. The shell of busybox runs those that it has inside. */
  addShell(): this {
    rmSync(join(this.directory, 'bin/sh'), { force: true });
    return this.copy('bin/bash-static', 'bin/sh');
  }

  /** The program in the root, in separate PID and mount namespaces. */
  command(...args: string[]): string[] {
    const { mounts = ':', proc = true, account } = this.#options;
    const ids = account === undefined ? [] : [`--userspec=${account}:${account}`, '--groups='];
    return [
      ...['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', this.directory],
      ...[`${mounts} && ${proc ? withProc : ':'}`, ...ids, '.', ...args],
    ];
  }

  async run(...args: string[]): Promise<Outcome> {
    const child = this.#spawn(args);
    const output = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    return { code: await ended(child), ...output };
  }

  async start(...flags: string[]): Promise<Daemon> {
    const daemon = new Daemon(this.#spawn(['/boxkeep', 'start', '--port', '0', ...flags]));
    await daemon.served();
    return daemon;
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #spawn(args: readonly string[]): ChildProcess {
    const [first = '', ...rest] = this.command(...args);
    return spawn(first, rest, { env: programEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => {
    child.once('close', resolve);
  });
}

/** A daemon whose init is PID 1 of its namespace. */
export class Daemon implements AsyncDisposable {
  url = '';
  stderr = '';
  #stdout = '';

  constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  async served(): Promise<void> {
    const line = () => /^\{.*"message":"serving".*\}$/m.exec(this.#stdout)?.[0];
    await until('the daemon serves', () => line() !== undefined || this.child.exitCode !== null);
    const serving = line();
    if (serving === undefined) throw new Error(`the daemon ended with ${this.child.exitCode}: ${this.stderr}`);
    this.url = (JSON.parse(serving) as { url: string }).url;
  }

  /** The pid of init, seen from outside. It throws once init has ended: a signal to process 0 reaches the test run. */
  get initPid(): number {
    return this.#found('init', this.#initPids()[0]);
  }

  get daemonPid(): number {
    return this.#found('the daemon', this.#daemonPids()[0]);
  }

  /** Whether init has replaced the daemon that had this pid. */
  hasAnotherThan(pid: number): boolean {
    return this.#daemonPids().some((other) => other !== pid);
  }

  /** Every process of the namespace by name, except a keeper that waits for the next command; zombies count. */
  processes(): string[] {
    const all = this.#initPids();
    for (const pid of all) all.push(...childrenOf(pid));
    return all.map(nameOf).filter((name) => name !== 'boxkeep-spare');
  }

  /** The files that the daemon runs from, with their paths from outside. */
  mappedFiles(): string[] {
    const lines = readProcess(this.daemonPid, 'maps').matchAll(/ (\/.*)$/gm);
    return [...new Set([...lines].map((match) => match[1] ?? ''))].filter((path) => !path.includes('(deleted)'));
  }

  async post(path: string, body: unknown): Promise<{ status: number; data: JsonObject; hint: string | null }> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      keepalive: false,
    });
    return { status: response.status, ...((await response.json()) as { data: JsonObject; hint: string | null }) };
  }

  /** Runs a program to its end, without a shell. */
  async run(command: string, ...args: string[]): Promise<JsonObject> {
    return (await this.post('/v2/commands', { command, args, shell: 'none' })).data;
  }

  /** Sends a signal to PID 1 as a supervisor does, and returns the exit code and the duration. */
  async end(signal: NodeJS.Signals): Promise<{ code: number | null; isInTime: boolean }> {
    const started = performance.now();
    process.kill(this.initPid, signal);
    const code = await ended(this.child);
    return { code, isInTime: performance.now() - started < endsWithinMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#initPids()) process.kill(pid, 'SIGKILL');
    await ended(this.child);
  }

  #initPids(): number[] {
    return childrenOf(this.child.pid ?? 0);
  }

  #daemonPids(): number[] {
    const [initPid = 0] = this.#initPids();
    return childrenOf(initPid).filter((pid) => nameOf(pid) === 'boxkeep-daemon');
  }

  #found(what: string, pid: number | undefined): number {
    if (pid === undefined) throw new Error(`${what} does not run; its standard error: ${this.stderr}`);
    return pid;
  }
}

function childrenOf(pid: number): number[] {
  return readProcess(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

const nameOf = (pid: number): string => readProcess(pid, 'comm').trim();

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // The process ended during the read.
  }
}
