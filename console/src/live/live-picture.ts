/** Draws the live pictures of a tab or the desktop, and reports what a person does on them. */
import { BoxError, type LiveEvent } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { hintForPerson } from '../frame/hint.ts';
import { adoptLiveStyle } from './live-style.ts';

/** Pixels of what the picture shows. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

export interface LiveActions {
  /** The pointer rests there, or moves with a button down. */
  move(spot: Spot, event: MouseEvent): void;
  down(spot: Spot, event: MouseEvent): void;
  up(spot: Spot, event: MouseEvent): void;
  wheel(spot: Spot, by: Spot): void;
  key(event: KeyboardEvent): void;
  text(text: string): void;
}

type Shown = Extract<LiveEvent, { readonly type: 'picture' }>;

export interface LiveOptions {
  /** Names the picture for screen readers. */
  readonly name: string;
  readonly pictures: (signal: AbortSignal) => AsyncIterable<LiveEvent>;
  readonly actions: LiveActions;
  /** Called for each picture after it is drawn. */
  readonly onPicture: (picture: Shown) => void;
}

/** What a person waits for a browser or a display that is away, before the page tries again. */
const tryAgainMs = 2000;
/** A pointer that has not moved for this time rests. */
const restMs = 120;
const pixelsOfLine = 40;

export class LivePicture {
  readonly place = element('figure', { class: 'live-picture' });
  readonly #canvas = element('canvas');
  readonly #keys = element('textarea', { class: 'live-keys' });
  readonly #state = element('p', { class: 'note' }, 'connecting');
  readonly #onSeen = () => void this.#follow();
  #screen = { width: 1, height: 1 };
  #closing: AbortController | null = null;
  #isClosed = false;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: LiveOptions) {
    adoptLiveStyle();
    this.#canvas.setAttribute('role', 'img');
    this.#canvas.setAttribute('aria-label', options.name);
    this.#keys.setAttribute('aria-label', `${options.name}: keys typed here go there; Shift+Escape leaves`);
    // What a phone suggests would be typed in one piece that replaces what was typed before.
    for (const name of ['autocomplete', 'autocorrect', 'autocapitalize'] as const) this.#keys.setAttribute(name, 'off');
    this.#keys.spellcheck = false;
    this.place.append(this.#state, element('div', { class: 'frame' }, this.#canvas, this.#keys));
    this.#listenToPointer();
    this.#listenToKeys();
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#onSeen);
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    document.removeEventListener('visibilitychange', this.#onSeen);
    clearTimeout(this.#rest);
    this.#closing?.abort();
  }

  /** Sends the keys of the person to the picture, also those of the keyboard on the screen of a phone. */
  focus(): void {
    this.#keys.focus({ preventScroll: true });
  }

  say(text: string): void {
    this.#state.replaceChildren(text);
  }

  /** Watches only while the page is seen, and goes on by itself when the daemon or what it shows is back. */
  async #follow(): Promise<void> {
    this.#closing?.abort();
    if (document.hidden || this.#isClosed) return;
    const closing = new AbortController();
    const { signal } = closing;
    this.#closing = closing;
    while (!signal.aborted) {
      try {
        for await (const event of this.options.pictures(signal)) await this.#take(event);
      } catch (error) {
        if (signal.aborted) return;
        this.#fail(error);
        if (!(error instanceof BoxError && (error.retryable || error.code === 'tab_not_found'))) return;
        await pause(tryAgainMs, signal);
      }
    }
  }

  async #take(event: LiveEvent): Promise<void> {
    if (event.type === 'away') return this.say('not connected; trying again');
    const picture = await createImageBitmap(new Blob([event.bytes], { type: 'image/jpeg' }));
    const { width, height } = picture;
    if (this.#canvas.width !== width || this.#canvas.height !== height) Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext('2d')?.drawImage(picture, 0, 0);
    picture.close();
    this.#screen = { width: event.screenWidth, height: event.screenHeight };
    this.say(`live, ${event.screenWidth} × ${event.screenHeight}`);
    this.options.onPicture(event);
  }

  #fail(error: unknown): void {
    const hint = error instanceof BoxError && error.hint !== null ? hintForPerson(error.hint) : null;
    const message = error instanceof Error ? error.message : String(error);
    this.#state.replaceChildren(element('span', { class: 'wrong' }, message), hint === null ? '' : ` ${hint}`);
  }

  #listenToPointer(): void {
    const { actions } = this.options;
    const canvas = this.#canvas;
    canvas.addEventListener('pointerdown', (event) => {
      // A finger scrolls the page, and taps.
      if (event.pointerType === 'touch') return;
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      clearTimeout(this.#rest);
      this.focus();
      actions.down(this.#spotOf(event), event);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (event.pointerType !== 'touch') actions.up(this.#spotOf(event), event);
    });
    canvas.addEventListener('click', (event) => {
      if (event.pointerType !== 'touch') return;
      const spot = this.#spotOf(event);
      actions.down(spot, event);
      actions.up(spot, event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'touch' || document.activeElement !== this.#keys) return;
      clearTimeout(this.#rest);
      const move = () => actions.move(this.#spotOf(event), event);
      if (event.buttons > 0) move();
      else this.#rest = setTimeout(move, restMs);
    });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener(
      'wheel',
      (event) => {
        if (document.activeElement !== this.#keys) return; // The console itself scrolls.
        event.preventDefault();
        const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : pixelsOfLine;
        actions.wheel(this.#spotOf(event), { x: event.deltaX * unit, y: event.deltaY * unit });
      },
      { passive: false },
    );
  }

  #listenToKeys(): void {
    const { actions } = this.options;
    const keys = this.#keys;
    const take = () => {
      if (keys.value !== '') actions.text(keys.value);
      keys.value = '';
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.type === 'keydown' && event.key === 'Escape' && event.shiftKey) return keys.blur();
      // The clipboard of the person, and the text of an input method, arrive as text.
      const isPaste = event.key.toLowerCase() === 'v' && (event.ctrlKey || event.metaKey);
      if (isPaste || event.isComposing || ['Dead', 'Process', 'Unidentified'].includes(event.key)) return;
      event.preventDefault();
      actions.key(event);
    };
    keys.addEventListener('keydown', onKey);
    keys.addEventListener('keyup', onKey);
    keys.addEventListener('input', (event) => !event.isComposing && take());
    keys.addEventListener('compositionend', take);
  }

  /** The canvas has the size of the picture, and is drawn at another one. */
  #spotOf({ clientX, clientY }: MouseEvent): Spot {
    const box = this.#canvas.getBoundingClientRect();
    const at = (part: number, whole: number, side: number) =>
      Math.round(Math.min(Math.max(part / whole, 0), 1) * Math.max(0, side - 1));
    return {
      x: at(clientX - box.left, box.width, this.#screen.width),
      y: at(clientY - box.top, box.height, this.#screen.height),
    };
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
