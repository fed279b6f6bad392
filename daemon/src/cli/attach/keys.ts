/** Detects the detach keys in typed input and passes everything else through. */
import { ClientFailure } from '../client/failure.ts';

export const defaultDetachKeys = 'ctrl-\\,d';
const noKeys = 'none';
const maxKeys = 8;

/** Parses keys to be typed in sequence: `ctrl-\,d`, `ctrl-]`, `~,.`. Empty for `none`. */
export function readKeys(text: string): Uint8Array {
  if (text === noKeys) return new Uint8Array();
  const keys = text.split(',').map(keyByte);
  if (keys.length > maxKeys || keys.includes(null)) {
    throw new ClientFailure(
      `--detach-key takes keys as ctrl-] or ctrl-\\,d, at most ${maxKeys} with commas between them, or ${noKeys}`,
    );
  }
  return Uint8Array.from(keys as number[]);
}

/** The keys as people write them: `Ctrl-\ d`. */
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
  /** How many of the detach keys were typed in sequence so far. */
  #matched = 0;

  constructor(private readonly keys: Uint8Array) {}

  /** Whether bytes are held back because the next key decides whether they detach. */
  get isHolding(): boolean {
    return this.#matched > 0;
  }

  /** The bytes to pass on, and whether the detach keys are complete; bytes typed after them are dropped. */
  take(typed: Uint8Array): { readonly bytes: Uint8Array; readonly isDetached: boolean } {
    if (this.keys.length === 0) return { bytes: typed, isDetached: false };
    const passed: number[] = [];
    for (const byte of typed) {
      this.#advance(byte, passed);
      if (this.#matched === this.keys.length) return { bytes: Uint8Array.from(passed), isDetached: true };
    }
    return { bytes: Uint8Array.from(passed), isDetached: false };
  }

  /** Stops waiting for the next key and returns the held keys. */
  release(): Uint8Array {
    const held = this.keys.slice(0, this.#matched);
    this.#matched = 0;
    return held;
  }

  /** Passes on held bytes that no longer fit. Their end may be the start of a new match. */
  #advance(byte: number, passed: number[]): void {
    const held = [...this.keys.subarray(0, this.#matched), byte];
    let from = 0;
    while (from < held.length && held.slice(from).some((each, at) => each !== this.keys[at])) from++;
    passed.push(...held.slice(0, from));
    this.#matched = held.length - from;
  }
}
