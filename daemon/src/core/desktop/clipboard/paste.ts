/** Pastes text into the window that has the keyboard, and waits until that program has taken the text. */
import { advise } from '../../../kit/advice.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Display } from '../../../platform/x11/display.ts';
import type { Delivery, SelectionOwner } from '../../../platform/x11/selection-owner.ts';
import type { CallOptions } from '../desktop.ts';
import type { Chord } from '../../../protocols/chord.ts';
import { pause } from '../input/pause.ts';
import type { Clipboard, SelectionName } from './clipboard.ts';

export interface PasteParts {
  readonly display: Display;
  readonly owner: SelectionOwner;
  readonly clipboard: Clipboard;
  press(chord: Chord, options: CallOptions): Promise<void>;
}

/** How the program of a window is made to paste. */
interface PasteStyle {
  readonly chord: Chord;
  readonly selections: readonly SelectionName[];
}

const ordinary: PasteStyle = { chord: ['Control_L', 'v'], selections: ['CLIPBOARD'] };
/** In a terminal, Control-V is input for the program inside. Some paste the primary selection with these keys. */
const terminal: PasteStyle = { chord: ['Shift_L', 'Insert'], selections: ['CLIPBOARD', 'PRIMARY'] };
const terminalClass = /term|rxvt|konsole|kitty|alacritty|tilix|guake|yakuake|wezterm|^foot$|^st(?:-|$)/i;

/** The focus that follows the pointer, as in the protocol; 0 is no focus, and larger numbers are windows. */
const pointerRoot = 1;
const takenWithinMs = 5_000;
/**
 * Browsers ask several times for one paste, so the text stays until the program has asked for nothing for a while. A
 * program that is slow to ask first, for example on a busy machine, is slow to ask again.
 */
const quiet = { minMs: 40, timesFirstRequest: 4, maxMs: 1_000, withinMs: 3_000 } as const;
/** A window deeper than this in the tree has no class of its own. */
const maxAncestors = 16;

export class Paste {
  constructor(private readonly parts: PasteParts) {}

  /** The clipboard has its earlier content afterwards. */
  async lines(
    lines: readonly string[],
    options: CallOptions,
    between: (index: number) => Promise<void>,
  ): Promise<void> {
    const { display, clipboard } = this.parts;
    const focus = await display.windows.focus(options.signal);
    const style = (await this.#isTerminal(focus, options)) ? terminal : ordinary;
    await clipboard.lend(style.selections, options, async () => {
      for (const [index, line] of lines.entries()) {
        if (line !== '') await this.#paste(line, { style, focus, options });
        await between(index);
      }
    });
  }

  async #paste(text: string, { style, focus, options }: { style: PasteStyle; focus: number; options: CallOptions }) {
    const { owner, clipboard, press } = this.parts;
    await clipboard.offer(style.selections, text, options);
    using deadline = new Deadline(takenWithinMs, options.signal);
    using requests = new ClipboardRequests(owner, (delivery) => this.#isOfClient(delivery, focus), deadline.signal);
    const pressedAtMs = performance.now();
    await press(style.chord, options);
    if (!(await requests.firstText)) {
      options.signal.throwIfAborted();
      throw notTaken();
    }
    const tookMs = performance.now() - pressedAtMs;
    await requests.end(Math.min(quiet.maxMs, Math.max(quiet.minMs, quiet.timesFirstRequest * tookMs)), options);
  }

  /** A clipboard manager reads every new content, too, so only the program with the keyboard counts. */
  #isOfClient({ requestor }: Delivery, focus: number): boolean {
    const { resourceMask } = this.parts.display.connection.setup;
    return focus <= pointerRoot || ((requestor ^ focus) & ~resourceMask) === 0;
  }

  async #isTerminal(focus: number, { signal }: CallOptions): Promise<boolean> {
    const { properties, windows, root } = this.parts.display;
    let window = focus;
    for (let depth = 0; depth < maxAncestors && window > pointerRoot && window !== root; depth++) {
      const name = await properties.text(window, 'WM_CLASS', { signal });
      if (name !== null) return terminalClass.test(name);
      window = await windows.parent(window, signal);
    }
    return false;
  }
}

/** Observes the clipboard requests of the program that has the keyboard focus, from construction on. */
class ClipboardRequests implements Disposable {
  readonly #firstText = Promise.withResolvers<boolean>();
  readonly #listening: Disposable;
  #lastAtMs = 0;

  constructor(owner: SelectionOwner, counts: (delivery: Delivery) => boolean, signal: AbortSignal) {
    this.#listening = owner.listen((delivery) => {
      if (!counts(delivery)) return;
      this.#lastAtMs = performance.now();
      if (delivery.target !== 'TARGETS') this.#firstText.resolve(true);
    });
    signal.addEventListener('abort', () => this.#firstText.resolve(false), { once: true });
  }

  /** False when the signal aborted before the program has taken the text. */
  get firstText(): Promise<boolean> {
    return this.#firstText.promise;
  }

  /** Resolves when the program has asked for nothing for this time. */
  async end(quietMs: number, options: CallOptions): Promise<void> {
    const endMs = performance.now() + quiet.withinMs;
    for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
      const remainingMs = this.#lastAtMs + quietMs - nowMs;
      if (remainingMs <= 0) return;
      await pause(remainingMs, options);
    }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }
}

function notTaken(): CoreError {
  return new CoreError('unavailable', `no program has taken the pasted text within ${takenWithinMs / 1000} s`, {
    hint: 'Click a text field first.',
    advice: advise`With ${'useClipboard'} false the text is typed by key events.`,
  });
}
