/** Finds where output can be cut without splitting a character or a control sequence. */

const [cancel, substitute, escape, bell] = [0x18, 0x1a, 0x1b, 0x07];

type State = 'ground' | 'character' | 'escape' | 'intermediate' | 'csi' | 'osc' | 'string' | 'string-escape';

export interface Cut {
  /** Number of bytes that belong to a sequence begun before them. */
  readonly ended: number;
  /** Number of bytes before an incomplete sequence; null if the sequence begun before them is still incomplete. */
  readonly whole: number | null;
}

export class Sequences {
  #state: State = 'ground';
  /** Bytes of the current character that are still to come. */
  #missing = 0;

  scan(bytes: Uint8Array): Cut {
    let ended = this.#state === 'ground' ? 0 : -1;
    let begun = 0;
    for (let at = 0; at < bytes.length; at++) {
      const wasGround = this.#state === 'ground';
      const byte = bytes[at] ?? 0;
      if (wasGround && byte !== escape && byte < 0xc2) continue;
      const isAnother = this.#step(byte) || wasGround;
      if (isAnother) begun = at;
      if (ended < 0 && isAnother) ended = at;
      else if (ended < 0 && this.#state === 'ground') ended = at + 1;
    }
    if (ended < 0) return { ended: bytes.length, whole: null };
    return { ended, whole: this.#state === 'ground' ? bytes.length : begun };
  }

  /** Returns true if this byte begins a new sequence and breaks off the one before. */
  #step(byte: number): boolean {
    if (this.#state === 'ground') return this.#begin(byte);
    if (this.#state === 'character') {
      if (byte < 0x80 || byte > 0xbf) return this.#begin(byte);
      if (--this.#missing === 0) this.#state = 'ground';
      return false;
    }
    if (byte === cancel || byte === substitute) this.#state = 'ground';
    else if (this.#state === 'osc' || this.#state === 'string') this.#stepString(byte, this.#state);
    else if (this.#state === 'string-escape') return this.#stepTerminator(byte);
    else if (byte === escape) this.#state = 'escape';
    else this.#stepSequence(byte);
    return byte === escape && this.#state === 'escape';
  }

  #begin(byte: number): boolean {
    this.#missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    if (byte === escape) this.#state = 'escape';
    else this.#state = byte >= 0xc2 && byte <= 0xf4 ? 'character' : 'ground';
    return true;
  }

  #stepString(byte: number, state: 'osc' | 'string'): void {
    if (byte === escape) this.#state = 'string-escape';
    else if (byte === bell && state === 'osc') this.#state = 'ground';
  }

  /** An escape ends a string. What follows is a new sequence, unless it completes the string terminator. */
  #stepTerminator(byte: number): boolean {
    this.#state = 'escape';
    if (byte !== escape) this.#stepSequence(byte);
    return false;
  }

  #stepSequence(byte: number): void {
    if (byte < 0x20) return; // A control character inside a sequence takes effect, and the sequence continues.
    if (this.#state === 'csi') {
      if (byte >= 0x40) this.#state = 'ground';
    } else if (byte < 0x30) this.#state = 'intermediate';
    else this.#state = this.#state === 'escape' ? opened(byte) : 'ground';
  }
}

/** The state that `ESC` and this byte lead to. */
function opened(byte: number): State {
  switch (String.fromCharCode(byte)) {
    case '[':
      return 'csi';
    case ']':
      return 'osc';
    case 'P':
    case 'X':
    case '^':
    case '_':
      return 'string';
    default:
      return 'ground';
  }
}
