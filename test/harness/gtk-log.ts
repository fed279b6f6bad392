/** Runs the window that prints its events, and compares them with what a test expects. */
import type { Subprocess } from 'bun';
import type { TestDisplay } from './display.ts';
import { until } from './until.ts';

export interface WindowEvent {
  readonly kind: string;
  readonly name?: string;
  readonly text?: string;
  readonly held?: readonly string[];
  readonly button?: number;
  readonly direction?: string;
  readonly x?: number;
  readonly y?: number;
  readonly dragging?: boolean;
  readonly width?: number;
  readonly height?: number;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const maxShownLength = 200;
/** Debian's own Python, because Debian installs the library of GTK for no other. */
const python = '/usr/bin/python3';
const script = new URL('gtk-log.py', import.meta.url).pathname;

export class EventWindow {
  readonly events: WindowEvent[] = [];
  /** The text field. */
  field: Place = { x: 0, y: 0, width: 0, height: 0 };
  canvas: Place = { x: 0, y: 0, width: 0, height: 0 };
  /** The files that can be dragged. */
  files: readonly Place[] = [];
  id = 0;

  private constructor(private readonly program: Subprocess<'ignore', 'pipe', 'ignore'>) {}

  /** The window has the keyboard when this resolves. */
  static async open(display: TestDisplay, ...titleAndFiles: readonly string[]): Promise<EventWindow> {
    const environment = { GTK_IM_MODULE: 'gtk-im-context-simple', GDK_BACKEND: 'x11', NO_AT_BRIDGE: '1' };
    const window = new EventWindow(display.spawn([python, script, ...titleAndFiles], environment));
    void window.#read();
    await until('the window is there', () => window.id !== 0);
    await until('the window has the keyboard', () => window.events.some(({ kind }) => kind === 'focus'));
    return window;
  }

  /** The text of the field as of the last change. */
  get text(): string {
    return this.events.findLast(({ kind }) => kind === 'text')?.text ?? '';
  }

  /** The events of one kind, with these fields only. */
  of<K extends keyof WindowEvent>(kinds: readonly string[], ...fields: readonly K[]): Pick<WindowEvent, K>[] {
    const found = this.events.filter(({ kind }) => kinds.includes(kind));
    return found.map(
      (event) => Object.fromEntries(fields.map((field) => [field, event[field]])) as Pick<WindowEvent, K>,
    );
  }

  close(): void {
    this.program.kill('SIGKILL');
  }

  clear(): void {
    this.events.length = 0;
  }

  async has(what: string, isSo: () => boolean): Promise<void> {
    await until(what, isSo).catch((error: unknown) => {
      throw new Error(
        `${String(error)}; events:\n${this.events.map((event) => JSON.stringify(event).slice(0, maxShownLength)).join('\n')}`,
      );
    });
  }

  async shows(text: string): Promise<void> {
    await this.has(`the field shows ${JSON.stringify(text)}`, () => this.text === text);
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of this.program.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#add(JSON.parse(line) as WindowEvent & Partial<Record<string, unknown>>);
    }
  }

  #add(event: WindowEvent & Partial<Record<string, unknown>>): void {
    if (event.kind !== 'ready') {
      this.events.push(event);
      return;
    }
    this.field = event['field'] as Place;
    this.canvas = event['canvas'] as Place;
    this.files = event['files'] as Place[];
    this.id = event['xid'] as number;
  }
}
