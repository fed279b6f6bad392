/** Sends the events of a keyboard to the element of a page that has the focus. */
import { parseChord } from '../../../protocols/chord.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Session } from '../session.ts';
import { shortened } from '../url.ts';
import { keyNamed, keyOf, shifted, type Key } from './key-table.ts';
import { modifierBits, type ModifierKey } from './pointer.ts';

/** Keys that are pressed together; the modifiers go down first. */
export interface Chord {
  readonly modifiers: readonly Key[];
  readonly key: Key;
}

/** Throws `bad_argument` for a name that is not a key or chord. */
export function chordNamed(name: string): Chord {
  const keys = parseChord(name).map(keyNamed);
  const last = keys.pop();
  const modifiers = keys.filter((key) => key !== null && modifierOf(key) !== null) as Key[];
  if (!last || modifiers.length < keys.length) {
    throw new CoreError('bad_argument', `${JSON.stringify(shortened(name))} is not a key or a chord`, {
      hint: 'Pass a key such as Enter, ArrowDown or a, or a chord such as Control+A. Pass text as the value of fill.',
    });
  }
  const hasShift = modifiers.some(({ key }) => key === 'Shift');
  return { modifiers, key: hasShift ? shifted(last) : last };
}

export class PageKeyboard {
  constructor(private readonly session: Session) {}

  async press({ modifiers, key }: Chord, signal: AbortSignal): Promise<void> {
    let bits = 0;
    const events: Promise<void>[] = [];
    for (const modifier of modifiers) events.push(this.#down(modifier, (bits |= bitOf(modifier)), signal));
    events.push(...this.#stroke(key, bits, signal));
    for (const modifier of modifiers.toReversed()) events.push(this.#up(modifier, (bits &= ~bitOf(modifier)), signal));
    await Promise.all(events);
  }

  /** Types each character. A line break is inserted without the Enter key, which would send a form or a message. */
  async type(text: string, signal: AbortSignal): Promise<void> {
    // The browser handles the events in order, so none is awaited alone.
    const events = Array.from(text, (character) =>
      character === '\n' || character === '\t'
        ? [this.insert(character, signal)]
        : this.#stroke(keyOf(character), 0, signal),
    );
    await Promise.all(events.flat());
  }

  /** Inserts text without keys, as an input method does. */
  async insert(text: string, signal: AbortSignal): Promise<void> {
    await this.session.send('Input.insertText', { text }, signal);
  }

  #stroke(key: Key, held: number, signal: AbortSignal): readonly Promise<void>[] {
    const bits = held | (key.needsShift ? modifierBits.shift : 0);
    return [this.#down(key, bits | bitOf(key), signal), this.#up(key, bits, signal)];
  }

  async #down(key: Key, modifiers: number, signal: AbortSignal): Promise<void> {
    const isShortcut = (modifiers & ~modifierBits.shift) !== 0;
    const text = isShortcut ? '' : key.text;
    const type = text === '' ? 'rawKeyDown' : 'keyDown';
    await this.#send({ type, ...(text !== '' && { text, unmodifiedText: text }) }, key, modifiers, signal);
  }

  async #up(key: Key, modifiers: number, signal: AbortSignal): Promise<void> {
    await this.#send({ type: 'keyUp' }, key, modifiers, signal);
  }

  async #send(
    event: { type: 'rawKeyDown' | 'keyDown' | 'keyUp'; text?: string; unmodifiedText?: string },
    { key, code, keyCode }: Key,
    modifiers: number,
    signal: AbortSignal,
  ): Promise<void> {
    const location = code.endsWith('Left') && modifierOf({ key }) !== null ? 1 : 0;
    const codes = { windowsVirtualKeyCode: keyCode, nativeVirtualKeyCode: keyCode };
    await this.session.send('Input.dispatchKeyEvent', { ...event, key, code, ...codes, modifiers, location }, signal);
  }
}

function modifierOf({ key }: Pick<Key, 'key'>): ModifierKey | null {
  const name = key.toLowerCase();
  return name in modifierBits ? (name as ModifierKey) : null;
}

function bitOf(key: Key): number {
  const name = modifierOf(key);
  return name === null ? 0 : modifierBits[name];
}
