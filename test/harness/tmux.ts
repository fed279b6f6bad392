/** A separate tmux server for a test: real terminals of fixed size whose screens can be read cell by cell. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.ts';

/** The screen shows only the program, and its last output stays readable. */
const settings = ['status off', 'escape-time 0', 'remain-on-exit on', 'history-limit 20000'];

export interface PaneOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cols?: number;
  readonly rows?: number;
}

/** Named keys of tmux, such as `Enter` and `C-c`, or literal text. */
export type Keys = { readonly key: string } | string;

export class Tmux implements AsyncDisposable {
  readonly #socket: string;
  #count = 0;

  /** The server and all its programs end when the object is disposed of. */
  constructor(private readonly directory: string) {
    this.#socket = join(directory, 'tmux.socket');
    writeFileSync(this.#config, `${settings.map((setting) => `set-option -g ${setting}`).join('\n')}\n`);
  }

  get #config(): string {
    return join(this.directory, 'tmux.conf');
  }

  /** A terminal of this size that runs only the program. */
  pane({ command, cwd, env = {}, cols = 80, rows = 24 }: PaneOptions): Pane {
    const name = `pane${this.#count++}`;
    const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    // The program gets exactly the given environment, without tmux's variables.
    const path = [`PATH=${process.env['PATH']}`, `TMPDIR=${join(this.directory, 'tmp')}`];
    const clean = ['env', '-i', ...path, ...variables, ...command];
    this.run('new-session', '-d', '-s', name, '-x', `${cols}`, '-y', `${rows}`, '-c', cwd, clean.map(quote).join(' '));
    const pane = new Pane(this, name);
    pane.resize(cols, rows);
    return pane;
  }

  run(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync('tmux', ['-u', '-S', this.#socket, '-f', this.#config, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TMPDIR: join(this.directory, 'tmp'), LANG: 'C.UTF-8' },
    });
    if (status !== 0) throw new Error(`tmux ${args[0]}: ${stderr}`);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pids = this.#count === 0 ? [] : [Number(this.run('display-message', '-p', '#{pid}'))];
    if (this.#count > 0) this.run('kill-server');
    await until('the server of tmux is gone', () => pids.every((pid) => !isAlive(pid)));
  }
}

export class Pane {
  constructor(
    private readonly tmux: Tmux,
    private readonly name: string,
  ) {}

  type(...keys: Keys[]): void {
    for (const each of keys) {
      if (typeof each === 'string') this.tmux.run('send-keys', '-t', this.name, '-l', '--', each);
      else this.tmux.run('send-keys', '-t', this.name, each.key);
    }
  }

  resize(cols: number, rows: number): void {
    this.tmux.run('resize-window', '-t', this.name, '-x', `${cols}`, '-y', `${rows}`);
  }

  /** Every row with its colours and attributes. */
  get cells(): string {
    return this.tmux.run('capture-pane', '-p', '-e', '-N', '-t', this.name);
  }

  get text(): string {
    return this.tmux.run('capture-pane', '-p', '-t', this.name);
  }

  /** Includes the lines that have scrolled off the top. */
  get history(): string {
    return this.tmux.run('capture-pane', '-p', '-J', '-S', '-', '-t', this.name);
  }

  /** The position and style of the cursor, and the modes that the program has set. */
  get state(): string {
    const fields = ['cursor_x', 'cursor_y', 'cursor_flag', 'alternate_on', 'insert_flag', 'keypad_cursor_flag'];
    fields.push('keypad_flag', 'wrap_flag', 'mouse_any_flag', 'mouse_sgr_flag', 'scroll_region_upper');
    fields.push('scroll_region_lower', 'pane_width', 'pane_height');
    const format = fields.map((field) => `${field}=#{${field}}`).join(' ');
    return this.tmux.run('display-message', '-p', '-t', this.name, format).trim();
  }

  /** The program's exit code. Null while it runs. */
  get exitCode(): number | null {
    const format = '#{pid} #{pane_dead} #{pane_dead_status}';
    const [server, isDead, status] = this.tmux.run('display-message', '-p', '-t', this.name, format).trim().split(' ');
    if (isDead !== '1') return null;
    // The output ends before tmux knows the exit status, and tmux 3.3 sometimes misses SIGCHLD.
    if (status === undefined) process.kill(Number(server), 'SIGCHLD');
    return status === undefined ? null : Number(status);
  }

  get pid(): number {
    return Number(this.tmux.run('display-message', '-p', '-t', this.name, '#{pane_pid}'));
  }

  async shows(text: string | RegExp): Promise<void> {
    const isShown = () => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text));
    await until(`the terminal shows ${String(text)}`, isShown).catch((error: unknown) => {
      throw new Error(`${String(error)}; it shows:\n${this.text}`);
    });
  }

  /** Resolves when the last line matches, which means that the shell waits. */
  async ends(pattern: RegExp): Promise<void> {
    await until(`the last line is ${String(pattern)}`, () => pattern.test(this.text.trimEnd()));
  }

  async ended(): Promise<number> {
    await until('the program at the terminal has ended', () => this.exitCode !== null);
    return this.exitCode ?? 0;
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // The process has ended or never existed.
  }
}
