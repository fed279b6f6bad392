/** Puts text into an editor: into an editable element, or into a field that only stands for the text of an editor. */
import type { PageCall } from '../browser.ts';
import type { RefTarget } from '../page.ts';
import { chordNamed, PageKeyboard } from './keyboard.ts';
import { pause } from './waiting.ts';

export interface Edit {
  readonly kind: 'edit';
  readonly text: string;
  /** False for a part of an editable element, which the page script has selected. */
  readonly isWhole?: boolean;
  /** The editor takes the text out of the field and shows it elsewhere. */
  readonly isProxy?: boolean;
}

type Way = 'insert' | 'paste';

/**
 * An editor completes brackets and indents lines that are typed or inserted, and not those that are pasted. A rich
 * editor drops empty lines that are pasted, and not those that are inserted. Either may miss a selection that is new.
 */
const ways = {
  code: ['paste', 'paste'],
  rich: ['insert', 'insert', 'paste'],
} as const satisfies Record<string, readonly Way[]>;
/** Inserting costs time with the square of the length. */
const maxInsertedLength = 20_000;
/** Time for an editor to see a new selection, after a first attempt that came too early. */
const selectionMs = 150;
/** Time for an editor to show what it has taken. */
const showMs = 300;
const lookMs = 20;

const selectAll = chordNamed('Control+A');
export const erase = chordNamed('Backspace');
const toEnd = chordNamed('ArrowRight');

/** Returns what the editor holds; each further attempt replaces the text of the one before. */
export async function edit(
  call: PageCall,
  target: RefTarget,
  { text, isWhole = true, isProxy = false }: Edit,
): Promise<Held> {
  const editor = new Editor(call, target, text, isProxy);
  const isLong = text.length > maxInsertedLength;
  let held: Held | null = null;
  for (const [attempt, way] of (isProxy || isLong ? ways.code : ways.rich).entries()) {
    if (attempt > 0 && (!isWhole || (isLong && !isProxy))) break;
    if (isWhole) await editor.selectAll(attempt === 0 ? 0 : selectionMs);
    await editor.put(way);
    const last = held;
    held = await editor.held();
    // The page changes the text on purpose when a second attempt has the same result.
    if (held.matches || (last !== null && last.value === held.value && last.length === held.length)) break;
  }
  return held ?? { matches: false };
}

class Editor {
  readonly #keyboard: PageKeyboard;

  constructor(
    private readonly call: PageCall,
    private readonly target: RefTarget,
    private readonly text: string,
    private readonly isProxy: boolean,
  ) {
    this.#keyboard = new PageKeyboard(call.page.session);
  }

  async selectAll(delayMs: number): Promise<void> {
    const { signal } = this.call;
    await this.#keyboard.press(selectAll, signal);
    await this.#ask('selectAll');
    if (delayMs > 0) await pause(delayMs, signal);
  }

  async put(way: Way): Promise<void> {
    const { signal } = this.call;
    if (this.text === '') return await this.#keyboard.press(erase, signal);
    const isTaken = way === 'paste' && (await this.#ask<{ isTaken: boolean }>('paste', { text: this.text })).isTaken;
    if (!isTaken) await this.#keyboard.insert(this.text, signal);
  }

  /** What the element shows, or what the editor copies where it does not show all. */
  async held(): Promise<Held> {
    const shown = this.isProxy ? null : await this.#settled(() => this.#ask<Held>('filled', { value: this.text }));
    if (shown?.matches) return shown;
    const copied = await this.#settled(() => this.#copied());
    await this.#keyboard.press(toEnd, this.call.signal);
    return copied ?? shown ?? { matches: false };
  }

  /** Null for an editor that shows all. */
  async #copied(): Promise<Held | null> {
    await this.selectAll(0);
    return await this.#ask<Held | null>('copied', { value: this.text });
  }

  /** Looks again while an editor may still have to show what it has taken. */
  async #settled<T extends Held | null>(look: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + showMs;
    for (;;) {
      const held = await look();
      if (held === null || held.matches || performance.now() > deadline) return held;
      await pause(lookMs, this.call.signal);
    }
  }

  async #ask<T>(name: string, argument: object = {}): Promise<T> {
    return await this.call.page.callOn<T>(this.target, name, argument, this.call.signal);
  }
}

/** What the field holds. A password has neither value nor length, and a long text only a length. */
export interface Held {
  readonly value?: string | boolean | readonly string[];
  readonly length?: number;
  /** False when the page has changed or refused the value. */
  readonly matches: boolean;
}
