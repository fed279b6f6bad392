/** Tracks the modes that programs switch on at the local terminal, so that detaching can switch them off. */

/** Private modes that are on by default; all others are off. */
const onAtFirst: ReadonlySet<number> = new Set([7, 25]);
/** Modes to restore. Restoring others, such as the 132-column mode, would cause more changes than it reverts. */
const undone: readonly number[] = [
  1, 5, 6, 7, 9, 12, 25, 45, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026, 2031,
];
const alternateScreens: readonly number[] = [47, 1047, 1049];
const escape = 0x1b;
const longestSequence = 64;

export class TerminalModes {
  readonly #changed = new Map<number, boolean>();
  readonly #undo = new Map<string, string>();
  #isAlternate = 0;
  #rest = '';

  /** Watches output for sequences, which may be split at any byte. */
  watch(bytes: Uint8Array): void {
    if (this.#rest === '' && bytes.indexOf(escape) === -1) return;
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    this.#rest = '';
    for (let at = text.indexOf('\u001b'); at !== -1; at = text.indexOf('\u001b', at + 1)) {
      const sequence = /^\u001b(?:\[([<=>?]?)([\d;]*)([ !"$]?)([@-~])|[=>c78])/.exec(
        text.slice(at, at + longestSequence),
      );
      if (sequence) this.#note(sequence);
      else if (isUnfinished(text.slice(at))) this.#rest = text.slice(at);
    }
  }

  /** Returns the bytes that restore the terminal, empty when nothing was changed, and resets the tracking. */
  undo(): Buffer {
    const modes = [...this.#changed].filter(([mode, isOn]) => undone.includes(mode) && isOn !== onAtFirst.has(mode));
    const others = [...this.#undo.values()].join('');
    const back = modes.map(([mode, isOn]) => `\u001b[?${mode}${isOn ? 'l' : 'h'}`).join('');
    const screen = this.#isAlternate === 0 ? '' : `\u001b[?${this.#isAlternate}l`;
    this.#clear();
    return Buffer.from(`${others}${back}${screen}`);
  }

  #clear(): void {
    this.#changed.clear();
    this.#undo.clear();
    this.#isAlternate = 0;
    this.#rest = '';
  }

  #note([whole, mark = '', parameters = '', middle = '', last]: RegExpExecArray): void {
    if (whole === '\u001bc') this.#clear();
    else if (whole === '\u001b=') this.#undo.set('keypad', '\u001b>');
    else if (whole === '\u001b>') this.#undo.delete('keypad');
    else if (mark === '?' && middle === '' && (last === 'h' || last === 'l')) this.#switch(parameters, last === 'h');
    else if (mark === '>' && last === 'm') this.#undo.set('other keys', '\u001b[>4;0m');
    else if (mark === '>' && last === 'u') this.#undo.set('keyboard', '\u001b[=0;1u');
    else if (mark === '' && middle === ' ' && last === 'q') this.#undo.set('cursor', '\u001b[0 q');
    else if (mark === '' && middle === '!' && last === 'p') this.#undo.clear();
    else if (mark === '' && middle === '' && last === 'm') this.#style(parameters);
    else if (mark === '' && middle === '' && last === 'r') this.#region(parameters);
    else if (mark === '' && middle === '' && parameters === '4') this.#insert(last === 'h');
  }

  #switch(parameters: string, isOn: boolean): void {
    for (const mode of parameters.split(';').map(Number)) {
      if (alternateScreens.includes(mode)) this.#isAlternate = isOn ? mode : 0;
      else this.#changed.set(mode, isOn);
    }
  }

  #style(parameters: string): void {
    if (/^0*$/.test(parameters)) this.#undo.delete('style');
    else this.#undo.set('style', '\u001b[0m');
  }

  /** Setting the scroll region moves the cursor, so the sequence saves and restores it. */
  #region(parameters: string): void {
    if (parameters === '') this.#undo.delete('region');
    else this.#undo.set('region', '\u001b7\u001b[r\u001b8');
  }

  #insert(isOn: boolean): void {
    if (isOn) this.#undo.set('insert', '\u001b[4l');
    else this.#undo.delete('insert');
  }
}

function isUnfinished(tail: string): boolean {
  return tail.length < longestSequence && /^\u001b(?:\[[<=>?]?[\d;]*[ !"$]?)?$/.test(tail);
}
