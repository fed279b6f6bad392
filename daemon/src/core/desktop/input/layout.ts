/** Finds the key and the modifiers that produce a keysym in a layout of the keyboard. */
import type { KeyboardLayout, KeyboardState, KeyType } from '../../../platform/x11/xkb.ts';

/** One press of a key. */
export interface Stroke {
  readonly keycode: number;
  /** Modifiers that have to be down in addition to those that are. */
  readonly modifiers: number;
  /** The group to lock for the key; null when the key is in the current one. */
  readonly group: number | null;
}

/** The key and the modifiers that produce a keysym. */
interface Position {
  readonly keycode: number;
  readonly group: number;
  readonly groupCount: number;
  readonly level: number;
  readonly type: KeyType;
}

const modifierBits = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => 1 << index);
/** A change of the group is more visible to programs than any number of modifiers. */
const groupCost = 10;
const noSymbol = 0;

/** Shift, Control, Meta, Alt, Super and Hyper on both sides, the third and fifth level, and the group while held. */
const heldKeysyms = new Set([
  ...[0xffe1, 0xffe2, 0xffe3, 0xffe4, 0xffe7, 0xffe8, 0xffe9, 0xffea, 0xffeb, 0xffec, 0xffed, 0xffee],
  ...[0xfe03, 0xfe11, 0xff7e],
]);

export class Layout {
  readonly #positions = new Map<number, Position[]>();
  /** A key for each bit; a modifier that only locks, such as Num Lock, has none. */
  readonly #modifierKeys = new Map<number, number>();

  /** Keys that this program has given keysyms are not part of the layout. */
  constructor(
    private readonly layout: KeyboardLayout,
    borrowedKeycodes: ReadonlySet<number> = new Set(),
  ) {
    for (const [keycode, groups] of layout.keys) {
      if (borrowedKeycodes.has(keycode)) continue;
      for (const [group, { type, keysyms }] of groups.entries()) {
        for (const [level, keysym] of keysyms.entries()) {
          if (keysym === noSymbol) continue;
          const position = { keycode, group, groupCount: groups.length, level, type };
          this.#positions.getOrInsert(keysym, []).push(position);
        }
      }
    }
    for (const [keycode, modifiers] of layout.modifierKeys) {
      const isHeld = heldKeysyms.has(layout.keys.get(keycode)?.[0]?.keysyms[0] ?? noSymbol);
      if (isHeld && !this.#modifierKeys.has(modifiers)) this.#modifierKeys.set(modifiers, keycode);
    }
  }

  /** Null when no key has one of the keysyms. The current group and the fewest modifiers win. */
  stroke(keysyms: readonly number[], state: KeyboardState): Stroke | null {
    let best: Stroke | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const position of keysyms.flatMap((keysym) => this.#positions.get(keysym) ?? [])) {
      const modifiers = this.#modifiersFor(position, state);
      if (modifiers === null) continue;
      const isCurrent = state.group % position.groupCount === position.group;
      const cost = countBits(modifiers) + (isCurrent ? 0 : groupCost);
      if (cost >= least) continue;
      least = cost;
      best = { keycode: position.keycode, modifiers, group: isCurrent ? null : position.group };
    }
    return best;
  }

  /** The keys that set the modifiers, one for each bit. */
  keysOf(modifiers: number): number[] {
    return modifierBits.filter((bit) => modifiers & bit).flatMap((bit) => this.#modifierKeys.get(bit) ?? []);
  }

  /** The modifiers that the key sets while it is down. */
  modifiersOf(keycode: number): number {
    return this.layout.modifierKeys.get(keycode) ?? 0;
  }

  /** Keycodes that no key of the keyboard uses. */
  get spareKeycodes(): number[] {
    return [...this.layout.keys].filter(([, groups]) => isEmpty(groups)).map(([keycode]) => keycode);
  }

  /** Whether the keysym is the only one of the key. */
  isOnly(keycode: number, keysym: number): boolean {
    const groups = this.layout.keys.get(keycode) ?? [];
    return !isEmpty(groups) && groups.every(({ keysyms }) => keysyms.every((each) => each === keysym || each === 0));
  }

  /** Considers what is down or locked already: with Caps Lock, a lower-case letter needs Shift. */
  #modifiersFor({ type, level }: Position, { heldModifiers, lockedModifiers }: KeyboardState): number | null {
    const present = heldModifiers | lockedModifiers;
    if (levelOf(type, present) === level) return 0;
    const usable = modifierBits.filter((bit) => type.modifiers & bit & ~present && this.#modifierKeys.has(bit));
    const fitting = subsets(usable).filter((modifiers) => levelOf(type, present | modifiers) === level);
    return fitting.toSorted((a, b) => countBits(a) - countBits(b))[0] ?? null;
  }
}

function levelOf(type: KeyType, modifiers: number): number {
  const counted = modifiers & type.modifiers;
  return type.levels.find((entry) => entry.modifiers === counted)?.level ?? 0;
}

function isEmpty(groups: readonly { readonly keysyms: readonly number[] }[]): boolean {
  return groups.every(({ keysyms }) => keysyms.every((keysym) => keysym === noSymbol));
}

function subsets(bits: readonly number[]): number[] {
  return bits.reduce((sets, bit) => [...sets, ...sets.map((set) => set | bit)], [0]);
}

function countBits(bits: number): number {
  return modifierBits.filter((bit) => bits & bit).length;
}
