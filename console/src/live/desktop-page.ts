/** The page at `#/desktop`: the display as it changes, with mouse and keyboard, its clipboard, windows and films. */
import type {
  DesktopHotkeyAction,
  DesktopMouseDownAction,
  DesktopMouseUpAction,
  DesktopMoveToAction,
  DesktopScrollAction,
  DesktopSetClipboardAction,
  DesktopTypingAction,
  DesktopWindowActivateAction,
  DesktopWindowMinimizeAction,
  Sandbox,
} from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { InputQueue } from './input-queue.ts';
import { LivePicture, type LiveActions, type Spot } from './live-picture.ts';
import { adoptLiveStyle } from './live-style.ts';
import { Panel } from './panel.ts';

type Action =
  | DesktopHotkeyAction
  | DesktopMouseDownAction
  | DesktopMouseUpAction
  | DesktopMoveToAction
  | DesktopScrollAction
  | DesktopSetClipboardAction
  | DesktopTypingAction
  | DesktopWindowActivateAction
  | DesktopWindowMinimizeAction;

const mouseButtons = ['left', 'middle', 'right'] as const;
const pixelsOfNotch = 100;
/** The most actions of one call. */
const maxActions = 50;
/** The page asks again for the windows at most so often, and only while pictures come. */
const refreshMs = 1500;
const films = '/tmp/recordings';

export class DesktopPage {
  readonly #live: LivePicture;
  readonly #clipboard = element('textarea');
  readonly #windows = new Panel('Windows', () => this.#readWindows());
  readonly #recordings: Panel;
  readonly #film = element('video');
  readonly #record = element('button', { onClick: () => void this.#toggleRecording() }, 'Record');
  readonly #input: InputQueue<Action>;
  #isRecording = false;
  #refresh: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Of a turn of the wheel that is less than a notch. */
  #turned = { x: 0, y: 0 };

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
  ) {
    this.#input = new InputQueue(
      (actions) => this.#send(actions),
      merged,
      (error) => this.#say(error),
    );
    this.#live = new LivePicture({
      name: 'The desktop',
      pictures: (signal) => box.desktop.live({}, { signal, retryMs: Number.POSITIVE_INFINITY }),
      actions: this.#actions(),
      onPicture: () => this.#look(),
    });
    this.#film.controls = true;
    this.#film.hidden = true;
    this.#clipboard.setAttribute('aria-label', 'Clipboard of the desktop');
    this.#clipboard.rows = 3;
    this.#recordings = new Panel('Recordings', () => this.#readFilms(), element('p', {}, this.#record), this.#film);
  }

  async show(): Promise<void> {
    adoptLiveStyle();
    await this.box.orThrow.info();
    if (this.#isClosed) return;
    document.title = 'Desktop';
    const clipboard = element(
      'details',
      {},
      element('summary', {}, 'Clipboard'),
      this.#clipboard,
      element('button', { onClick: () => void this.#readClipboard() }, 'Read'),
      ' ',
      element(
        'button',
        { onClick: () => this.#input.add({ action_type: 'SET_CLIPBOARD', text: this.#clipboard.value }) },
        'Set',
      ),
    );
    this.place.replaceChildren(
      element(
        'main',
        { class: 'live-page' },
        element(
          'header',
          {},
          element('h1', {}, 'Desktop'),
          element('button', { onClick: () => this.#live.focus() }, 'Keyboard'),
        ),
        element(
          'div',
          { class: 'columns' },
          this.#live.place,
          element('aside', {}, this.#windows.place, clipboard, this.#recordings.place),
        ),
      ),
    );
    this.#live.start();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#refresh);
    this.#live.close();
    URL.revokeObjectURL(this.#film.src);
  }

  #actions(): LiveActions {
    const move = ({ x, y }: Spot): Action => ({ action_type: 'MOVE_TO', x, y });
    const press = (action_type: 'MOUSE_DOWN' | 'MOUSE_UP', spot: Spot, event: MouseEvent) => {
      const button = mouseButtons[event.button];
      if (button === undefined) return;
      this.#input.add(move(spot));
      this.#input.add({ action_type, button });
    };
    return {
      move: (spot) => this.#input.add(move(spot)),
      down: (spot, event) => press('MOUSE_DOWN', spot, event),
      up: (spot, event) => press('MOUSE_UP', spot, event),
      wheel: (spot, by) => this.#turn(spot, by),
      key: (event) => this.#press(event),
      text: (text) => this.#input.add({ action_type: 'TYPING', text }),
    };
  }

  #turn(spot: Spot, by: Spot): void {
    const notches = (side: 'x' | 'y') => {
      this.#turned[side] += by[side] / pixelsOfNotch;
      const whole = Math.trunc(this.#turned[side]);
      this.#turned[side] -= whole;
      return whole;
    };
    const [dx, dy] = [notches('x'), notches('y')];
    if (dx === 0 && dy === 0) return;
    this.#input.add({ action_type: 'MOVE_TO', ...spot });
    this.#input.add({ action_type: 'SCROLL', dx, dy });
  }

  /** Text is typed, and other keys are pressed with their modifiers, so that no key stays down when the page goes. */
  #press(event: KeyboardEvent): void {
    const { key, type } = event;
    if (type !== 'keydown' || ['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock'].includes(key)) return;
    const isCharacter = Array.from(key).length === 1;
    const modifiers = [
      ...(event.ctrlKey ? ['ctrl'] : []),
      ...(event.altKey ? ['alt'] : []),
      ...(event.metaKey ? ['super'] : []),
    ];
    if (isCharacter && modifiers.length === 0) this.#input.add({ action_type: 'TYPING', text: key });
    else {
      const shift = event.shiftKey && !(isCharacter && key.toLowerCase() === key.toUpperCase()) ? ['shift'] : [];
      this.#input.add({ action_type: 'HOTKEY', keys: [...modifiers, ...shift, key === ' ' ? 'space' : key] });
    }
  }

  async #send(actions: readonly Action[]): Promise<void> {
    for (let at = 0; at < actions.length; at += maxActions) {
      const part = actions.slice(at, at + maxActions);
      const answer = await this.box.orThrow.desktop.batch({ actions: part });
      if (answer.data.error !== null) throw new Error(answer.data.error);
    }
  }

  #look(): void {
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.#windows.refresh();
    }, refreshMs);
  }

  async #readWindows(): Promise<readonly HTMLElement[]> {
    const { data } = await this.box.orThrow.desktop.windows();
    return data.windows.map(({ window_id, title, active, minimized }) => {
      const does = (action_type: 'WINDOW_ACTIVATE' | 'WINDOW_MINIMIZE') => () =>
        this.#input.add({ action_type, window_id });
      const show = element('button', { onClick: does('WINDOW_ACTIVATE') }, title || window_id);
      if (active) show.setAttribute('aria-current', 'true');
      const state = element('span', { class: 'note' }, minimized ? 'minimized' : active ? 'active' : '');
      const hide = element('button', { label: `Minimize ${title}`, onClick: does('WINDOW_MINIMIZE') }, '–');
      const row = element('li', {}, show, state, hide);
      row.dataset['window'] = window_id;
      return row;
    });
  }

  async #readClipboard(): Promise<void> {
    await this.#try(async () => {
      this.#clipboard.value = (await this.box.orThrow.desktop.clipboard()).data.text;
    });
  }

  async #toggleRecording(): Promise<void> {
    await this.#try(async () => {
      const action = this.#isRecording ? 'stop' : 'start';
      await this.box.orThrow.desktop.record({ action, max_duration: 600 });
    });
    await this.#recordings.refresh();
  }

  async #readFilms(): Promise<readonly HTMLElement[]> {
    const { data: state } = await this.box.orThrow.desktop.record({ action: 'status' });
    this.#isRecording = state.status === 'recording';
    this.#record.textContent = this.#isRecording ? 'Stop recording' : 'Record';
    const listed = await this.box.files.list(films);
    if (!listed.ok) {
      if (listed.error.code === 'file_not_found') return [];
      throw listed.error;
    }
    const names = listed.body.data.files.map(({ name }) => name).filter((name) => name.endsWith('.mp4'));
    return names
      .toSorted()
      .toReversed()
      .map((name) => {
        const play = () => void this.#try(() => this.#play(name));
        return element('li', {}, element('button', { onClick: play }, name));
      });
  }

  async #play(name: string): Promise<void> {
    const film = await this.box.orThrow.files.download(`${films}/${name}`);
    URL.revokeObjectURL(this.#film.src);
    this.#film.src = URL.createObjectURL(
      new Blob([(await film.bytes()) as Uint8Array<ArrayBuffer>], { type: 'video/mp4' }),
    );
    this.#film.hidden = false;
    await this.#film.play();
  }

  async #try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#say(error);
    }
  }

  #say(error: unknown): void {
    if (!this.#isClosed) this.#live.say(error instanceof Error ? error.message : String(error));
  }
}

/** Movements that wait for their turn become one, and so does text. */
function merged(earlier: Action, later: Action): Action | null {
  if (earlier.action_type === 'MOVE_TO' && later.action_type === 'MOVE_TO') return later;
  if (earlier.action_type === 'TYPING' && later.action_type === 'TYPING')
    return { ...later, text: earlier.text + later.text };
  return null;
}
