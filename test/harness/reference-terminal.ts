/** The reference for screens: tmux in a separate server, which ends with the object. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from './until.ts';

export interface ReferenceScreen {
  readonly lines: string[];
  /** The lines with colours, as tmux writes them. */
  readonly styled: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
}

/** The program that shows the bytes written to a named pipe unchanged. */
export function feeder(pipe: string): string {
  return `stty raw -echo; printf '\\033]2;ready\\007'; exec cat <>${pipe}`;
}

export class ReferenceTerminal implements Disposable {
  readonly #socket: string;

  constructor(directory: string, name: string, cols: number, rows: number, command: string) {
    this.#socket = join(directory, `${name}.tmux`);
    const size = ['-x', String(cols), '-y', String(rows)];
    this.#tmux(
      'start-server',
      ';',
      'set',
      '-g',
      'status',
      'off',
      ';',
      'set',
      '-g',
      'default-terminal',
      'xterm-256color',
      ';',
      'new-session',
      '-d',
      ...size,
      command,
    );
  }

  read(): ReferenceScreen {
    const asked = ['display-message', '-p', '#{cursor_x} #{cursor_y} #{cursor_flag}'];
    const all = rowsOf(this.#tmux(...asked, ';', 'capture-pane', '-p', ';', 'capture-pane', '-p', '-e'));
    const [x = '0', y = '0', visible = '1'] = all[0]?.split(' ') ?? [];
    const half = (all.length + 1) / 2;
    return {
      lines: all.slice(1, half).map((line) => line.trimEnd()),
      styled: all.slice(half),
      cursor: { x: Number(x), y: Number(y), visible: visible === '1' },
    };
  }

  resize(cols: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(cols), '-y', String(rows));
  }

  type(keys: string): void {
    this.#tmux('send-keys', '-l', keys);
  }

  /** Resolves at a title. Everything sent before the title is then on the screen. */
  async titled(title: string): Promise<void> {
    await until(`tmux is at ${title}`, () => this.#ask('#{pane_title}') === title);
  }

  [Symbol.dispose](): void {
    this.#tmux('kill-server');
  }

  #ask(format: string): string {
    return this.#tmux('display-message', '-p', format).trimEnd();
  }

  #tmux(...args: string[]): string {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TERM: 'xterm-256color', SHELL: '/bin/sh' };
    const ran = spawnSync('tmux', ['-u', '-f', '/dev/null', '-S', this.#socket, ...args], { encoding: 'utf8', env });
    if (ran.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${ran.stderr}`);
    return ran.stdout;
  }
}

const rowsOf = (text: string) => text.replace(/\n$/, '').split('\n');
