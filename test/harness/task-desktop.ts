/** A desktop for scripted tasks: display, window manager, browser, worker and daemon, started once for all tasks. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccessibleDesktop } from './accessible-desktop.ts';
import { ComputerWorker } from './computer-worker.ts';
import type { Click, Point, Vocabulary } from './desktop-vocabularies.ts';
import { EventWindow, type Place } from './gtk-log.ts';
import { needPrograms } from './programs.ts';
import { expect, fixture, Sandbox, type Json } from './sandbox.ts';
import { startSite, type Site } from './site.ts';
import { until } from './until.ts';

export interface DesktopWindow {
  readonly window_id: string;
  readonly title: string;
  readonly bounds: Place;
  readonly active: boolean;
}

/** Chromium has the left half, so that other windows open beside it. */
const browserFlags = ['--window-position=0,0', '--window-size=640,800', '--no-default-browser-check'];

const looksPerGesture = 20;

/** Gives a page the title that its address has. Until a page is drawn, the browser drops clicks on it. */
const titleOnceDrawn = `<script>
  const setTitle = () => (document.title = new URLSearchParams(location.search).get('title'));
  addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(setTitle)));
</script>`;

export class TaskDesktop implements AsyncDisposable {
  /** What the pages have sent since the last task began. */
  results: Json[] = [];
  readonly #stack = new AsyncDisposableStack();
  site!: Site;
  session!: AccessibleDesktop;
  worker!: ComputerWorker;
  sandbox!: Sandbox;

  static async start(): Promise<TaskDesktop> {
    needPrograms('openbox', 'mousepad', 'xterm', 'chromium');
    const desktop = new TaskDesktop();
    await desktop.#open();
    return desktop;
  }

  async #open(): Promise<void> {
    this.site = startSite({
      '/result': async (_url, request) => {
        this.results.push(await request.json());
        return new Response();
      },
      '/page': async ({ searchParams }) => {
        const html = await Bun.file(fixture(`desktop-pages/${searchParams.get('name')}.html`)).text();
        return new Response(html + titleOnceDrawn, { headers: { 'content-type': 'text/html' } });
      },
    });
    this.#stack.defer(() => this.site.stop());
    this.session = this.#stack.use(await AccessibleDesktop.start());
    this.session.display.spawn(['openbox'], this.session.environment);
    this.worker = this.#stack.use(await ComputerWorker.start({ env: this.session.environment }));
    this.sandbox = await Sandbox.start({ env: this.worker.environment });
    this.#stack.defer(() => this.sandbox.close());
    this.session.openChromium('about:blank', ...browserFlags);
    await this.#shows('Chromium', ({ title }) => /Chromium/.test(title));
  }

  async windows(): Promise<DesktopWindow[]> {
    return (await this.sandbox.ok('GET /v2/computer/windows'))['windows'];
  }

  async window(title: string | RegExp): Promise<DesktopWindow> {
    return await this.#shows(String(title), (window) =>
      typeof title === 'string' ? window.title === title : title.test(window.title),
    );
  }

  async clipboard(): Promise<string> {
    return (await this.sandbox.ok('GET /v2/computer/clipboard'))['text'];
  }

  async screenshot(): Promise<Uint8Array> {
    return await (await this.sandbox.fetch('GET /v2/computer/screenshot')).bytes();
  }

  /** Asks the daemon meanwhile, so that a page has some time between two calls. */
  async hasResult(): Promise<boolean> {
    await this.windows();
    return this.results.length > 0;
  }

  /** Resolves with the first result that a page has sent. */
  async result(): Promise<Json> {
    await until('the page has sent its result', () => this.results.length > 0);
    return this.results[0];
  }

  async #shows(what: string, isIt: (window: DesktopWindow) => boolean): Promise<DesktopWindow> {
    let found: DesktopWindow | undefined;
    await until(`the window ${what} is there`, async () => (found = (await this.windows()).find(isIt)) !== undefined);
    return found!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** One attempt of one task: the user acts in one vocabulary, and what the user has opened is closed afterwards. */
export class DesktopUser implements AsyncDisposable {
  readonly directory: string;
  readonly #opened: { close(): Promise<unknown> | void }[] = [];

  constructor(
    readonly desktop: TaskDesktop,
    private readonly vocabulary: Vocabulary,
  ) {
    this.directory = mkdtempSync(join(desktop.session.display.directory, 'task-'));
    desktop.results = [];
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  async click(at: Point | Place, how: Click = {}): Promise<void> {
    await this.#act(this.vocabulary.click(centre(at), how));
  }

  async drag(from: Point, to: Point): Promise<void> {
    await this.#act(this.vocabulary.drag(from, to));
  }

  async type(text: string): Promise<void> {
    await this.#act(this.vocabulary.type(text));
  }

  async press(...keys: readonly string[]): Promise<void> {
    await this.#act(this.vocabulary.press(keys));
  }

  async scroll(at: Point, notches: number): Promise<void> {
    await this.#act(this.vocabulary.scroll(at, notches));
  }

  /** Where a node of the foreground is, once it is on the screen. */
  async place(role: string, name: string, state = 'showing'): Promise<Place> {
    let found: Place | undefined;
    await until(`${role} ${JSON.stringify(name)} is on the screen`, async () => {
      found = await this.look(role, name, state);
      return found !== undefined;
    });
    return found!;
  }

  /** The same without waiting. Names of menu items end in spaces in some programs. */
  async look(role: string, name: string, state = 'showing'): Promise<Place | undefined> {
    const query = new URLSearchParams({ role, name, states: state, timeout_ms: '20000' });
    const { status, body } = await this.desktop.sandbox.request(
      `GET /v2/computer/accessibility/nodes?${query.toString()}`,
    );
    const nodes: Json[] = status === 200 ? body.data['nodes'] : [];
    return nodes.find((node) => node.name.trim() === name && node.bounds !== null)?.bounds;
  }

  async clickNode(role: string, name: string): Promise<void> {
    await this.click(await this.place(role, name));
  }

  /**
   * Makes a gesture, and makes it again when the effect is long in coming: programs ignore clicks and keys while a menu
   * closes, a directory is read, a selection is not yet known to all their parts, or a drop is not yet agreed on.
   */
  async repeat(
    what: string,
    { gesture, isDone }: { gesture(): Promise<void>; isDone(): Promise<boolean> },
  ): Promise<void> {
    let looks = 0;
    await until(what, async () => {
      if (looks++ % looksPerGesture === 0) await gesture();
      return await isDone();
    });
  }

  /** Opens a page of test/fixtures/desktop-pages in the browser, by its address field. */
  async openPage(name: string): Promise<void> {
    const { bounds } = await this.desktop.window(/Chromium/);
    // Beside the tabs, where a click has no effect on a page.
    await this.click({ x: bounds.x + 450, y: bounds.y + 20 });
    await this.press('ctrl', 'l');
    // The browser handles the shortcut only after the page has had it.
    await this.place('entry', 'Address and search bar', 'focused');
    const title = randomUUID();
    await this.type(`${this.desktop.site.url(`/page?name=${name}&title=${title}`)}\n`);
    await this.desktop.window(new RegExp(`^${title} `));
  }

  /** Opens an editor with the text of a file, or an empty one; resolves with the place of its text field. */
  async openEditor(text?: string): Promise<Place> {
    const path = this.path('text.txt');
    if (text !== undefined) writeFileSync(path, text);
    await this.#open(/Mousepad/, ['mousepad', '--disable-server', ...(text === undefined ? [] : [path])]);
    return await this.place('text', '');
  }

  async openTerminal(title: string, script: string): Promise<DesktopWindow> {
    await this.#open(title, [
      'xterm',
      '-u8',
      '-geometry',
      '70x6+660+0',
      '-xrm',
      '*selectToClipboard: true',
      '-T',
      title,
      '-e',
      'bash',
      '-c',
      script,
    ]);
    return await this.desktop.window(title);
  }

  async openEventWindow(title: string, ...files: readonly string[]): Promise<EventWindow> {
    const window = await EventWindow.open(this.desktop.session.display, title, ...files);
    this.#opened.push(window);
    await this.active(title);
    return window;
  }

  async active(title: string | RegExp): Promise<void> {
    await until(`the window ${title} is active`, async () => (await this.desktop.window(title)).active);
  }

  /** Resolves when the programs of the task have closed their windows. */
  async closed(): Promise<void> {
    await until('only the browser has a window', async () => (await this.desktop.windows()).length === 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#opened) await program.close();
    await this.closed();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Starts a program that ends with the task; resolves when its window is active. */
  async #open(title: string | RegExp, command: readonly string[]): Promise<void> {
    const { display, environment } = this.desktop.session;
    const settings = { GSETTINGS_BACKEND: 'memory', GTK_IM_MODULE: 'gtk-im-context-simple', LANG: 'C.UTF-8' };
    const inDirectory = ['env', `--chdir=${this.directory}`, ...command];
    const program = display.spawn(inDirectory, { ...environment, ...settings });
    this.#opened.push({ close: () => (program.kill('SIGKILL'), program.exited) });
    await this.active(title);
  }

  async #act(bodies: readonly object[]): Promise<void> {
    for (const body of bodies) {
      const { status, body: answer } = await this.desktop.sandbox.request(this.vocabulary.route, body);
      expect([body, status, answer]).toMatchObject([body, 200, { data: { status: 'success' } }]);
    }
  }
}

export function centre(place: Point | Place): Point {
  if (!('width' in place)) return place;
  return { x: place.x + (place.width >> 1), y: place.y + (place.height >> 1) };
}
