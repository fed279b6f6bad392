/** Presses keys and types text by key events, in whatever layout the keyboard has. */
import type { InputRequests } from '../../../platform/x11/pointer.ts';
import type { KeyboardRequests } from '../../../platform/x11/keyboard.ts';
import type { KeyboardState, XkbRequests } from '../../../platform/x11/xkb.ts';
import type { CallOptions } from '../desktop.ts';
import type { Chord } from '../../../protocols/chord.ts';
import type { KeyNames } from './key-names.ts';
import { Layout, type Stroke } from './layout.ts';
import { pause } from './pause.ts';
import { SpareKeys } from './spare-keys.ts';
import { textRuns, type KeyRun } from './text-runs.ts';

export interface KeyboardDevice {
  readonly input: InputRequests;
  readonly keyboard: KeyboardRequests;
  readonly xkb: XkbRequests;
}

/** The layout and the state at the beginning of one action. */
export interface Keys {
  readonly layout: Layout;
  readonly state: KeyboardState;
}

/** Strokes between two answers of the server. */
const strokesPerRoundTrip = 50;
/** Time for programs to handle keys before the keys get other keysyms. */
const settleMs = 300;

export class Keyboard {
  readonly #spare: SpareKeys;
  /** The keycodes that `down` has pressed for a chord and `up` has not released. */
  readonly #held = new Map<string, readonly number[]>();

  constructor(
    private readonly device: KeyboardDevice,
    private readonly names: KeyNames,
  ) {
    this.#spare = new SpareKeys(device.keyboard, async (signal) => new Layout(await device.xkb.layout(signal)));
  }

  /** The keys go down in order, stay down for the time, and go up in reverse order. */
  async press(chord: Chord, { holdMs, ...options }: CallOptions & { readonly holdMs: number }): Promise<void> {
    await this.holding(chord, options, async () => {
      if (holdMs > 0) await pause(holdMs, options);
    });
  }

  /** Keeps the keys of the chord down during the work. */
  async holding<T>(chord: Chord, options: CallOptions, work: () => Promise<T>): Promise<T> {
    if (chord.length === 0) return await work();
    const keys = await this.#read(options);
    const pressed: number[] = [];
    try {
      await this.#down(chord, keys, { pressed, options });
      return await work();
    } finally {
      // Also when the client has gone: a key that stays down would spoil every later action.
      await this.#up(pressed);
    }
  }

  async down(chord: Chord, options: CallOptions): Promise<void> {
    const pressed: number[] = [];
    await this.#down(chord, await this.#read(options), { pressed, options });
    this.#held.set(chord.join('+'), pressed);
  }

  /** A chord that is not down is released all the same, because another program may have pressed it. */
  async up(chord: Chord, options: CallOptions): Promise<void> {
    const name = chord.join('+');
    const pressed = this.#held.get(name) ?? (await this.#keycodes(chord, options));
    this.#held.delete(name);
    await this.#up(pressed);
  }

  /** Characters that the layout lacks are typed with spare keys. Line ends are Return, tabulators Tab. */
  async type(text: string, options: CallOptions): Promise<void> {
    const keys = await this.#read(options);
    const lacks = (keysyms: readonly number[]) => this.#find(keysyms, keys) === null;
    const runs = textRuns(text, { names: this.names, lacks, maxMissing: this.#spare.capacity(keys.layout) });
    let hasReplacedKeys = false;
    for (const run of runs) {
      if (hasReplacedKeys && run.missing.length > 0) await pause(settleMs, options);
      const spare = run.missing.length > 0 ? await this.#assign(run, options) : null;
      hasReplacedKeys ||= spare !== null;
      await this.#typeRun(run, { keys, spare, options });
    }
    this.#spare.restoreLater();
  }

  /** Gives back the keys that were assigned, when the display is left. */
  async close(options: CallOptions): Promise<void> {
    await this.#spare.restore(options.signal);
  }

  async #read({ signal }: CallOptions): Promise<Keys> {
    const [layout, state] = await Promise.all([this.device.xkb.layout(signal), this.device.xkb.state(signal)]);
    return { layout: new Layout(layout, this.#spare.keycodes), state };
  }

  async #assign({ missing }: KeyRun, options: CallOptions): Promise<ReadonlyMap<number, number>> {
    const { layout } = await this.#read(options);
    return await this.#spare.assign(missing, layout);
  }

  async #typeRun(
    { characters }: KeyRun,
    { keys, spare, options }: { keys: Keys; spare: ReadonlyMap<number, number> | null; options: CallOptions },
  ): Promise<void> {
    for (let at = 0; at < characters.length; at += strokesPerRoundTrip) {
      options.signal.throwIfAborted();
      const part = characters.slice(at, at + strokesPerRoundTrip);
      await Promise.all(part.flatMap((keysyms) => this.#tap(this.#strokeOf(keysyms, keys, spare), keys)));
    }
  }

  #strokeOf(keysyms: readonly number[], keys: Keys, spare: ReadonlyMap<number, number> | null): Stroke {
    const keycode = spare && keysyms.map((keysym) => spare.get(keysym)).find((each) => each !== undefined);
    if (keycode) return { keycode, modifiers: 0, group: null };
    const stroke = this.#find(keysyms, keys);
    if (stroke) return stroke;
    throw new Error('a run of text has a character without a key');
  }

  /** Queues the events of one stroke, which the server executes in order. */
  #tap({ keycode, modifiers, group }: Stroke, keys: Keys): Promise<void>[] {
    const { input, xkb } = this.device;
    const modifierKeys = keys.layout.keysOf(modifiers);
    if (group !== null) xkb.lockGroup(group);
    const sent = [
      ...modifierKeys.map((key) => input.key(key, true)),
      input.key(keycode, true),
      input.key(keycode, false),
      ...modifierKeys.toReversed().map((key) => input.key(key, false)),
    ];
    if (group !== null) this.#restoreGroup(keys);
    return sent;
  }

  async #down(chord: Chord, keys: Keys, { pressed, options }: { pressed: number[]; options: CallOptions }) {
    const strokes: Stroke[] = [];
    for (const name of chord) strokes.push(await this.#strokeNamed(name, keys, options));
    let added = 0;
    const sent: Promise<void>[] = [];
    const press = (keycode: number) => {
      pressed.push(keycode);
      sent.push(this.device.input.key(keycode, true));
    };
    for (const { keycode, modifiers, group } of strokes) {
      for (const key of keys.layout.keysOf(modifiers & ~added)) press(key);
      if (group !== null) this.device.xkb.lockGroup(group);
      press(keycode);
      if (group !== null) this.#restoreGroup(keys);
      added |= modifiers | keys.layout.modifiersOf(keycode);
    }
    await Promise.all(sent);
  }

  async #up(pressed: readonly number[]): Promise<void> {
    await Promise.all(pressed.toReversed().map((keycode) => this.device.input.key(keycode, false)));
  }

  async #keycodes(chord: Chord, options: CallOptions): Promise<number[]> {
    const keys = await this.#read(options);
    const strokes: Stroke[] = [];
    for (const name of chord) strokes.push(await this.#strokeNamed(name, keys, options));
    return strokes.map(({ keycode }) => keycode);
  }

  /** Throws `bad_argument` for an unknown name. */
  async #strokeNamed(name: string, keys: Keys, options: CallOptions): Promise<Stroke> {
    const keysyms = this.names.keysymsOf(name);
    const found = this.#find(keysyms, keys);
    if (found) return found;
    const keysym = keysyms[0] ?? 0;
    const assigned = await this.#assign({ characters: [], missing: [keysym] }, options);
    return { keycode: assigned.get(keysym) ?? 0, modifiers: 0, group: null };
  }

  /** Keys that the caller holds, such as Shift, may rule every level of a key out; they then stay down. */
  #find(keysyms: readonly number[], { layout, state }: Keys): Stroke | null {
    return layout.stroke(keysyms, state) ?? layout.stroke(keysyms, { ...state, heldModifiers: 0 });
  }

  #restoreGroup({ state }: Keys): void {
    this.device.xkb.lockGroup(state.lockedGroup);
  }
}
