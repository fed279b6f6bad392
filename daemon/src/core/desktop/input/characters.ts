/** Finds the keysyms of a character, with those that layouts still use from before Unicode. */
import { keysymsByWord } from './keysym-table.ts';

/** The keysyms from before Unicode of each character. */
export type Alphabets = ReadonlyMap<string, readonly number[]>;

/** A keysym of a character is this bit and the code point, except below U+0100, where it is the code point. */
const unicodeBit = 0x0100_0000;

/** All keysyms that produce the character, the usual one first. Control characters have none. */
export function keysymsOfCharacter(character: string, alphabets: () => Alphabets): readonly number[] {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return [];
  if (code < 0x100) return [code, unicodeBit | code];
  return [...(alphabets().get(character) ?? []), unicodeBit | code];
}

/** The words of the table are code points in hexadecimal. */
export function readAlphabets(table: string): Alphabets {
  const alphabets = new Map<string, number[]>();
  for (const [code, keysym] of keysymsByWord(table)) {
    const character = String.fromCodePoint(Number.parseInt(code, 16));
    alphabets.set(character, [...(alphabets.get(character) ?? []), keysym]);
  }
  return alphabets;
}
