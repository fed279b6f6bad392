/** Finds the keys that detach among what is typed, and passes everything else on. */
import { ClientFailure } from './failure.ts';

export const defaultDetachKeys = 'ctrl-\\,d';
const noKeys = 'none';
const mostKeys = 8;

/** `ctrl-\,d`, `ctrl-]`, `~,.`: keys that are typed one after the other. Empty for `none`. */
export function readKeys(text: string): Uint8Array {
  if (text === noKeys) return new Uint8Array();
  const keys = text.split(',').map(keyByte);
  if (keys.length > mostKeys || keys.includes(null)) {
    throw new ClientFailure(
      `--detach-key takes keys as ctrl-] or ctrl-\\,d, at most ${mostKeys} with commas between them, or ${noKeys}`,
    );
  }
  return Uint8Array.from(keys as number[]);
}

/** For people: `Ctrl-\ d`. */
export function describeKeys(keys: Uint8Array): string {
  const names = [...keys].map((byte) =>
    byte < 0x20 ? `Ctrl-${String.fromCharCode(byte + 0x40)}` : String.fromCharCode(byte),
  );
  return names.join(' ');
}

function keyByte(name: string): number | null {
  const control = /^ctrl-([a-z@[\\\]^_])$/i.exec(name)?.[1];
  if (control !== undefined) return control.toUpperCase().charCodeAt(0) - 0x40;
  return /^[\u0021-\u007e]$/.test(name) ? name.charCodeAt(0) : null;
}

export class DetachKeys {
  /** How many of the keys were typed last. */
  #matched = 0;

  constructor(private readonly keys: Uint8Array) {}

  /** Whether bytes are held back because the next key decides what they are. */
  get isHolding(): boolean {
    return this.#matched > 0;
  }

  /** What is to be passed on, and whether the keys are complete; what is typed behind them is nobody's. */
  take(typed: Uint8Array): { readonly bytes: Uint8Array; readonly isDetached: boolean } {
    if (this.keys.length === 0) return { bytes: typed, isDetached: false };
    const passed: number[] = [];
    for (const byte of typed) {
      this.#advance(byte, passed);
      if (this.#matched === this.keys.length) return { bytes: Uint8Array.from(passed), isDetached: true };
    }
    return { bytes: Uint8Array.from(passed), isDetached: false };
  }

  /** Gives up waiting for the next key. */
  release(): Uint8Array {
    const held = this.keys.slice(0, this.#matched);
    this.#matched = 0;
    return held;
  }

  /** What was held and does not fit any more is passed on; its end may be the beginning of the keys once more. */
  #advance(byte: number, passed: number[]): void {
    const held = [...this.keys.subarray(0, this.#matched), byte];
    let from = 0;
    while (from < held.length && held.slice(from).some((each, at) => each !== this.keys[at])) from++;
    passed.push(...held.slice(0, from));
    this.#matched = held.length - from;
  }
}
