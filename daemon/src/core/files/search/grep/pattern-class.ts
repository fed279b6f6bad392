/** Translates the character classes and the escapes of a ripgrep pattern for the JavaScript engine. */
import type { PatternCursor } from './pattern-cursor.ts';

/** Bytes that are not UTF-8 are lone surrogates in the text. */
export const stray = '\\u{D800}-\\u{DFFF}';
export const wordMembers = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

const posixMembers: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\u{0}-\\u{7F}',
  blank: '\\u{9}\\u{20}',
  cntrl: '\\u{0}-\\u{1F}\\u{7F}',
  digit: '0-9',
  graph: '\\u{21}-\\u{7E}',
  lower: 'a-z',
  print: '\\u{20}-\\u{7E}',
  punct: '\\u{21}-\\u{2F}\\u{3A}-\\u{40}\\u{5B}-\\u{60}\\u{7B}-\\u{7E}',
  space: '\\u{9}-\\u{D}\\u{20}',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const controlCharacters: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, v: 11, a: 7 };
const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

export class ClassTranslation {
  constructor(
    private readonly cursor: PatternCursor,
    private readonly isMultiline: boolean,
  ) {}

  /** Translates an escape for a class: `\d`, `\W`, `\pL`, `\P{Greek}`. Returns null for any other escape. */
  classEscape(): string | null {
    const { rest } = this.cursor;
    const property = /^\\([pP])(?:\{(\^?)([^}]+)\}|([A-Za-z]))/.exec(rest);
    if (property) {
      const [whole, kind, caret, name, letter] = property;
      const isNegated = (kind === 'P') !== (caret === '^');
      const known = propertyOf(name ?? letter ?? '');
      if (known === null) throw this.cursor.refusal('Unicode property not found');
      this.cursor.at += whole.length;
      return isNegated ? `[^${known}${stray}]` : known;
    }
    const members = { d: '\\p{Nd}', s: '\\p{White_Space}', w: wordMembers }[rest.charAt(1).toLowerCase()];
    if (members === undefined || !/^\\[dswDSW]/.test(rest)) return null;
    this.cursor.at += 2;
    return /[DSW]/.test(rest.charAt(1)) ? `[^${members}${stray}]` : members;
  }

  /** Reads an escape for one character. */
  codeEscape(): number {
    const rest = this.cursor.rest.slice(1);
    if (rest === '') throw this.cursor.refusal('incomplete escape sequence, reached end of pattern prematurely');
    const letter = rest.charAt(0);
    const hexLength = hexLengths[letter];
    if (hexLength !== undefined) {
      const digits = new RegExp(`^.(?:\\{([\\da-fA-F]{1,8})\\}|([\\da-fA-F]{${hexLength}}))`).exec(rest);
      const code = Number.parseInt(digits?.[1] ?? digits?.[2] ?? '', 16);
      if (!(code <= 0x10ffff)) throw this.cursor.refusal('hexadecimal literal is not a Unicode scalar value');
      this.cursor.at += 1 + (digits?.[0].length ?? 0);
      return code;
    }
    if (/\d/.test(letter)) throw this.cursor.refusal('backreferences are not supported');
    const control = controlCharacters[letter];
    if (control === undefined && /[A-Za-z<>]/.test(letter)) throw this.cursor.refusal('unrecognized escape sequence');
    const code = control ?? rest.codePointAt(0) ?? 0;
    this.cursor.at += 1 + (code > 0xffff ? 2 : 1);
    return code;
  }

  bracketed(): string {
    const { members, isNegated } = this.#classMembers();
    return this.close(members, isNegated);
  }

  /** In a line-by-line search, no class matches a newline. */
  close(members: string, isNegated: boolean): string {
    if (isNegated) return this.isMultiline ? `[^${members}${stray}]` : `[^${members}\\n${stray}]`;
    return this.isMultiline ? `[${members}]` : `[[${members}]--[\\n]]`;
  }

  #classMembers(): { members: string; isNegated: boolean } {
    this.cursor.at += 1;
    const isNegated = this.cursor.looksAt('^');
    if (isNegated) this.cursor.at += 1;
    let members = '';
    let isFirst = true;
    while (isFirst || !this.cursor.looksAt(']')) {
      if (this.cursor.isOver) throw this.cursor.refusal('unclosed character class');
      const operator = /^(?:&&|--|~~)/.exec(this.cursor.rest)?.[0];
      if (operator === '~~') throw this.cursor.refusal('symmetric differences are not known to the built-in engine');
      if (operator !== undefined && !isFirst) {
        this.cursor.at += 2;
        const rest = this.#operand();
        return { members: `[[${members}]${operator}[${rest}]]`, isNegated };
      }
      members += this.#classItem();
      isFirst = false;
    }
    this.cursor.at += 1;
    return { members, isNegated };
  }

  /** Reads the operand after an operator, up to the end of the class. */
  #operand(): string {
    let members = '';
    while (!this.cursor.looksAt(']')) {
      if (this.cursor.isOver) throw this.cursor.refusal('unclosed character class');
      if (/^(?:&&|--|~~)/.test(this.cursor.rest)) {
        throw this.cursor.refusal('more than one operator in a class is not known to the built-in engine');
      }
      members += this.#classItem();
    }
    this.cursor.at += 1;
    return members;
  }

  #classItem(): string {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.cursor.rest);
    // An unknown name is a nested class, as in Rust.
    const named = posixMembers[posix?.[2] ?? ''];
    if (posix && named !== undefined) {
      this.cursor.at += posix[0].length;
      return posix[1] === '^' ? `[^${named}${stray}]` : named;
    }
    if (this.cursor.looksAt('[')) {
      const { members, isNegated } = this.#classMembers();
      return isNegated ? `[^${members}${stray}]` : `[${members}]`;
    }
    const escaped = this.cursor.looksAt('\\') ? this.classEscape() : null;
    if (escaped !== null) return escaped;
    const low = this.#classCode();
    const isRange = this.cursor.looksAt('-') && !this.cursor.looksAt('-]') && !this.cursor.looksAt('--');
    if (!isRange) return `\\u{${low.toString(16)}}`;
    this.cursor.at += 1;
    const high = this.#classCode();
    if (high < low) throw this.cursor.refusal('invalid character class range');
    return `\\u{${low.toString(16)}}-\\u{${high.toString(16)}}`;
  }

  #classCode(): number {
    if (this.cursor.isOver) throw this.cursor.refusal('unclosed character class');
    if (this.cursor.looksAt('\\')) return this.codeEscape();
    const character = this.cursor.next;
    this.cursor.at += character.length;
    return character.codePointAt(0) ?? 0;
  }
}

/** Rust accepts `\p{Greek}` in any case. JavaScript requires `\p{Script=Greek}` in the exact case. */
function propertyOf(name: string): string | null {
  const plain = name.replaceAll(/[\s_-]/g, '').toLowerCase();
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const short: Readonly<Record<string, string>> = {
    alphabetic: 'Alphabetic',
    lowercase: 'Lowercase',
    uppercase: 'Uppercase',
    whitespace: 'White_Space',
    letter: 'L',
    number: 'N',
    punctuation: 'P',
    symbol: 'S',
  };
  const candidates = [
    short[plain],
    name,
    title,
    `Script=${name}`,
    `Script=${title}`,
    `Script=${title.charAt(0)}${title.slice(1).toLowerCase()}`,
  ];
  return (
    candidates
      .filter((one) => one !== undefined)
      .map((one) => `\\p{${one}}`)
      .find(isClass) ?? null
  );
}

function isClass(source: string): boolean {
  try {
    return new RegExp(source, 'v').source !== '';
  } catch {
    return false; // No property has this name. The caller tries the next candidate.
  }
}
