/** Finds the keysyms for a key name of X, of the web, of pyautogui or of an agent, or for a single character. */
import { CoreError } from '../../../kit/errors.ts';
import { once } from '../../../kit/once.ts';
import { readTable } from '../../../kit/text/table.ts';
import { keysymsOfCharacter, readAlphabets } from './characters.ts';
import { keysymsByWord } from './keysym-table.ts';

/** The texts in `assets/tables/`. Each is read when a key first needs it. */
export interface KeyTables {
  readonly aliases: string;
  readonly alphabets: string;
  readonly keysyms: string;
}

const maxNameLength = 64;

export class KeyNames {
  /** The case of a name counts: `aacute` and `Aacute` are two keys. */
  readonly #keysyms = once(() => new Map(keysymsByWord(this.tables.keysyms)));
  /** Names without regard to case, for those that differ from another name in more than case. */
  readonly #looseKeysyms = once(
    () => new Map([...this.#keysyms()].toReversed().map(([name, keysym]) => [loose(name), keysym])),
  );
  readonly #xNames = once(
    () =>
      new Map(readTable(this.tables.aliases).flatMap(([xName = '', ...names]) => names.map((name) => [name, xName]))),
  );
  readonly #alphabets = once(() => readAlphabets(this.tables.alphabets));

  constructor(private readonly tables: KeyTables) {}

  /**
   * The keysyms that satisfy the name, the usual one first. Throws `bad_argument` for an unknown name.
   * An alias comes before an X name that differs in case, because `CTRL` and `Enter` have one meaning everywhere.
   */
  keysymsOf(name: string): readonly number[] {
    if (isOneCharacter(name)) return this.#ofCharacterOrKey(name);
    const exact = this.#keysyms().get(name);
    const alias = this.#xNames().get(loose(name));
    const keysym = exact ?? (alias === undefined ? undefined : this.#keysyms().get(alias)) ?? this.#derived(name);
    if (keysym !== undefined) return [keysym];
    throw unknownKey(name);
  }

  #ofCharacterOrKey(character: string): readonly number[] {
    const control = { '\n': 'Return', '\r': 'Return', '\t': 'Tab', '\b': 'BackSpace', '\u001B': 'Escape' }[character];
    const keysyms = control === undefined ? this.#ofCharacter(character) : this.keysymsOf(control);
    if (keysyms.length === 0) throw unknownKey(character);
    return keysyms;
  }

  #ofCharacter(character: string): readonly number[] {
    return keysymsOfCharacter(character, this.#alphabets);
  }

  /** `KeyA`, `Digit1` and `Numpad1` of the web, `num1` of pyautogui, `U20AC` and `0xff0d` of X, and any X name in any case. */
  #derived(name: string): number | undefined {
    const plain = loose(name);
    const character = /^(?:key([a-z])|digit(\d))$/.exec(plain);
    if (character) return (character[1] ?? character[2])?.codePointAt(0);
    const digit = /^(?:numpad|num|kp)(\d)$/.exec(plain)?.[1];
    if (digit !== undefined) return this.#keysyms().get(`KP_${digit}`);
    const code = /^u\+?([0-9a-f]{4,6})$/i.exec(name)?.[1];
    if (code !== undefined) return this.#ofCode(Number.parseInt(code, 16));
    const value = /^0x([0-9a-f]{1,8})$/i.exec(name)?.[1];
    return value === undefined ? this.#looseKeysyms().get(plain) : Number.parseInt(value, 16);
  }

  #ofCode(code: number): number | undefined {
    return code > 0x10_ffff ? undefined : this.#ofCharacter(String.fromCodePoint(code))[0];
  }
}

function isOneCharacter(name: string): boolean {
  return Array.from(name).length === 1;
}

function loose(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

function unknownKey(name: string): CoreError {
  const shown = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
  return new CoreError('bad_argument', `key ${JSON.stringify(shown)} is not known`, {
    hint: 'Name keys as X, the web or an agent does, such as Return, ArrowUp or ctrl+c, or pass one character.',
  });
}
