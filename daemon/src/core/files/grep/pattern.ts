/**
 * Patterns in the syntax of ripgrep (Rust's regex), written anew for the engine of the runtime. What that cannot do,
 * and what Rust's regex refuses, is refused here. Bytes that are not UTF-8 are lone surrogates in the text, and no
 * class and no dot matches them, as there.
 */
import { PatternError } from './query.ts';

export interface PatternOptions {
  readonly isFixed: boolean;
  readonly isCaseInsensitive: boolean;
  readonly isMultiline: boolean;
  readonly hasLookAround: boolean;
}

const stray = '\\u{D800}-\\u{DFFF}';
const wordMembers = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';
const isWord = `[${wordMembers}]`;
const atWordBoundary = `(?:(?<=${isWord})(?!${isWord})|(?<!${isWord})(?=${isWord}))`;
const notAtWordBoundary = `(?:(?<=${isWord})(?=${isWord})|(?<!${isWord})(?!${isWord}))`;

const atLineStart = '(?<![^\\n])';
const atLineEnd = '(?![^\\n])';

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
const refusedFlags: Readonly<Record<string, string>> = { x: 'comments', U: 'swapped greed', R: 'CRLF' };

/** Compiled to find one match after another in a text of many lines. Throws `PatternError`. */
export function compilePattern(pattern: string, options: PatternOptions): RegExp {
  const source = options.isFixed ? escapeText(pattern) : new Translation(pattern, options).whole();
  try {
    return new RegExp(source, options.isCaseInsensitive ? 'giv' : 'gv');
  } catch (error) {
    throw new PatternError(`the pattern does not compile: ${(error as Error).message}`);
  }
}

function escapeText(text: string): string {
  return Array.from(text, (character) => escapeCode(character.codePointAt(0) ?? 0)).join('');
}

function escapeCode(code: number): string {
  const character = String.fromCodePoint(code);
  return /[A-Za-z0-9_]/.test(character) ? character : `\\u{${code.toString(16)}}`;
}

class Translation {
  #at = 0;
  #dotMatchesNewline: boolean;
  #isByLine = true;
  private readonly isMultiline: boolean;
  private readonly hasLookAround: boolean;

  constructor(
    private readonly pattern: string,
    { isMultiline, hasLookAround }: PatternOptions,
  ) {
    this.isMultiline = isMultiline;
    this.hasLookAround = hasLookAround;
    this.#dotMatchesNewline = isMultiline;
  }

  whole(): string {
    const source = this.#alternatives();
    if (this.#at < this.pattern.length) throw this.#refusal('unopened group');
    return source;
  }

  get #next(): string {
    return String.fromCodePoint(this.pattern.codePointAt(this.#at) ?? 0);
  }

  #isOver(): boolean {
    return this.#at >= this.pattern.length;
  }

  #looksAt(text: string): boolean {
    return this.pattern.startsWith(text, this.#at);
  }

  #refusal(what: string): PatternError {
    return new PatternError(`the pattern does not compile: ${what}, at character ${this.#at + 1}`);
  }

  /** Up to the end or the `)` of a group, whose flags end with it. */
  #alternatives(): string {
    const [dot, byLine] = [this.#dotMatchesNewline, this.#isByLine];
    let source = '';
    let [openers, closers] = ['', '']; // Flags reach over the alternatives that follow, a group of the engine does not.
    while (!this.#isOver() && !this.#looksAt(')')) {
      if (this.#looksAt('|')) {
        source += `${closers}|${openers}`;
        this.#at += 1;
        continue;
      }
      const flags = /^\(\?([a-zA-Z-]*)\)/.exec(this.pattern.slice(this.#at));
      if (flags) {
        const letters = this.#readFlags(flags[1] ?? '');
        this.#at += flags[0].length;
        if (letters === '') continue;
        source += `(?${letters}:`;
        openers += `(?${letters}:`;
        closers += ')';
        continue;
      }
      source += this.#repeated();
    }
    [this.#dotMatchesNewline, this.#isByLine] = [dot, byLine];
    return source + closers;
  }

  #repeated(): string {
    if (/^[*+?{]/.test(this.#next)) throw this.#refusal('repetition operator missing expression');
    let source = this.#atom();
    for (;;) {
      const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.pattern.slice(this.#at));
      if (!found) {
        if (this.#looksAt('{')) throw this.#refusal('repetition quantifier expects a valid decimal');
        return source;
      }
      if (found[2] && Number(found[2]) < Number(found[1])) throw this.#refusal('invalid repetition count range');
      source = `(?:${source})${found[0]}`;
      this.#at += found[0].length;
    }
  }

  #atom(): string {
    const character = this.#next;
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\':
        return this.#escape();
      case '.':
        this.#at += 1;
        return this.#dotMatchesNewline ? `[^${stray}]` : `[^\\n${stray}]`;
      case '^':
        this.#at += 1;
        return this.#isByLine ? atLineStart : this.#textStart();
      case '$':
        this.#at += 1;
        return this.#isByLine ? atLineEnd : this.#textEnd();
      default:
        this.#at += character.length;
        return escapeCode(character.codePointAt(0) ?? 0);
    }
  }

  /** A search by lines sees one line as the whole text. */
  #textStart(): string {
    return this.isMultiline ? '(?<![\\u{0}-\\u{10FFFF}])' : atLineStart;
  }

  #textEnd(): string {
    return this.isMultiline ? '(?![\\u{0}-\\u{10FFFF}])' : atLineEnd;
  }

  #group(): string {
    const head = /^\((?:\?(?:P?<([A-Za-z_][\w.[\]]*)>|([a-zA-Z-]*):))?/.exec(this.pattern.slice(this.#at));
    const look = /^\(\?<?[=!]/.exec(this.pattern.slice(this.#at))?.[0];
    if (look !== undefined) return this.#lookAround(look);
    if (!head || (head[0] === '(' && this.pattern.startsWith('(?', this.#at))) throw this.#refusal('unrecognized flag');
    const [dot, byLine] = [this.#dotMatchesNewline, this.#isByLine];
    const letters = this.#readFlags(head[2] ?? '');
    this.#at += head[0].length;
    const inner = this.#alternatives();
    [this.#dotMatchesNewline, this.#isByLine] = [dot, byLine];
    this.#endGroup();
    return `(?${letters}:${inner})`;
  }

  #endGroup(): void {
    if (!this.#looksAt(')')) throw this.#refusal('unclosed group');
    this.#at += 1;
  }

  #lookAround(head: string): string {
    if (!this.hasLookAround) {
      throw this.#refusal('look-around, including look-ahead and look-behind, is not supported');
    }
    this.#at += head.length;
    const inner = this.#alternatives();
    this.#endGroup();
    return `${head}${inner})`;
  }

  /** Sets what is ours to see to, and answers what the engine is to be told: `i`, `-i` or nothing. */
  #readFlags(flags: string): string {
    let isOn = true;
    let letters = '';
    for (const flag of flags) {
      if (flag === '-') isOn = false;
      else if (flag === 's') this.#dotMatchesNewline = isOn && this.isMultiline;
      else if (flag === 'm') this.#isByLine = isOn;
      else if (flag === 'i') letters = isOn ? 'i' : '-i';
      else if (flag !== 'u' || !isOn) {
        throw this.#refusal(
          `the flag ${flag} (${refusedFlags[flag] ?? 'none of Rust’s'}) is not known to the built-in engine`,
        );
      }
    }
    return letters;
  }

  #escape(): string {
    const rest = this.pattern.slice(this.#at + 1);
    const letter = rest.charAt(0);
    const fixed: Readonly<Record<string, string>> = {
      A: this.#textStart(),
      z: this.#textEnd(),
      ...(this.hasLookAround ? { Z: this.#textEnd() } : {}),
      b: atWordBoundary,
      B: notAtWordBoundary,
    };
    const assertion = fixed[letter];
    if (assertion !== undefined) {
      this.#at += 2;
      return assertion;
    }
    const members = this.#classEscape();
    if (members !== null) return this.#closeClass(members, false);
    const code = this.#codeEscape();
    if (code === 10 && !this.isMultiline) throw new PatternError(newlineRefusal);
    return escapeCode(code);
  }

  /** Members of a class: `\d`, `\W`, `\pL`, `\P{Greek}`; null for anything else. */
  #classEscape(): string | null {
    const rest = this.pattern.slice(this.#at);
    const property = /^\\([pP])(?:\{(\^?)([^}]+)\}|([A-Za-z]))/.exec(rest);
    if (property) {
      const [whole, kind, caret, name, letter] = property;
      const isNegated = (kind === 'P') !== (caret === '^');
      const known = propertyOf(name ?? letter ?? '');
      if (known === null) throw this.#refusal('Unicode property not found');
      this.#at += whole.length;
      return isNegated ? `[^${known}${stray}]` : known;
    }
    const members = { d: '\\p{Nd}', s: '\\p{White_Space}', w: wordMembers }[rest.charAt(1).toLowerCase()];
    if (members === undefined || !/^\\[dswDSW]/.test(rest)) return null;
    this.#at += 2;
    return /[DSW]/.test(rest.charAt(1)) ? `[^${members}${stray}]` : members;
  }

  /** One character behind a backslash. */
  #codeEscape(): number {
    const rest = this.pattern.slice(this.#at + 1);
    if (rest === '') throw this.#refusal('incomplete escape sequence, reached end of pattern prematurely');
    const letter = rest.charAt(0);
    const hexLength = hexLengths[letter];
    if (hexLength !== undefined) {
      const digits = new RegExp(`^.(?:\\{([\\da-fA-F]{1,8})\\}|([\\da-fA-F]{${hexLength}}))`).exec(rest);
      const code = Number.parseInt(digits?.[1] ?? digits?.[2] ?? '', 16);
      if (!(code <= 0x10ffff)) throw this.#refusal('hexadecimal literal is not a Unicode scalar value');
      this.#at += 1 + (digits?.[0].length ?? 0);
      return code;
    }
    if (/\d/.test(letter)) throw this.#refusal('backreferences are not supported');
    const control = controlCharacters[letter];
    if (control === undefined && /[A-Za-z<>]/.test(letter)) throw this.#refusal('unrecognized escape sequence');
    const code = control ?? rest.codePointAt(0) ?? 0;
    this.#at += 1 + (code > 0xffff ? 2 : 1);
    return code;
  }

  #class(): string {
    const { members, isNegated } = this.#classMembers();
    return this.#closeClass(members, isNegated);
  }

  /** In a search by lines nothing matches the end of one. */
  #closeClass(members: string, isNegated: boolean): string {
    if (isNegated) return this.isMultiline ? `[^${members}${stray}]` : `[^${members}\\n${stray}]`;
    return this.isMultiline ? `[${members}]` : `[[${members}]--[\\n]]`;
  }

  #classMembers(): { members: string; isNegated: boolean } {
    this.#at += 1;
    const isNegated = this.#looksAt('^');
    if (isNegated) this.#at += 1;
    let members = '';
    let isFirst = true;
    while (isFirst || !this.#looksAt(']')) {
      if (this.#isOver()) throw this.#refusal('unclosed character class');
      const operator = /^(?:&&|--|~~)/.exec(this.pattern.slice(this.#at))?.[0];
      if (operator === '~~') throw this.#refusal('symmetric differences are not known to the built-in engine');
      if (operator !== undefined && !isFirst) {
        this.#at += 2;
        const rest = this.#operand();
        return { members: `[[${members}]${operator}[${rest}]]`, isNegated };
      }
      members += this.#classItem();
      isFirst = false;
    }
    this.#at += 1;
    return { members, isNegated };
  }

  /** What stands behind an operator, to the end of the class. */
  #operand(): string {
    let members = '';
    while (!this.#looksAt(']')) {
      if (this.#isOver()) throw this.#refusal('unclosed character class');
      if (/^(?:&&|--|~~)/.test(this.pattern.slice(this.#at))) {
        throw this.#refusal('more than one operator in a class is not known to the built-in engine');
      }
      members += this.#classItem();
    }
    this.#at += 1;
    return members;
  }

  #classItem(): string {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.pattern.slice(this.#at));
    // What is none of them is a class within the class, as in Rust.
    const named = posixMembers[posix?.[2] ?? ''];
    if (posix && named !== undefined) {
      this.#at += posix[0].length;
      return posix[1] === '^' ? `[^${named}${stray}]` : named;
    }
    if (this.#looksAt('[')) {
      const { members, isNegated } = this.#classMembers();
      return isNegated ? `[^${members}${stray}]` : `[${members}]`;
    }
    const escaped = this.#looksAt('\\') ? this.#classEscape() : null;
    if (escaped !== null) return escaped;
    const low = this.#classCode();
    const isRange = this.#looksAt('-') && !this.#looksAt('-]') && !this.#looksAt('--');
    if (!isRange) return `\\u{${low.toString(16)}}`;
    this.#at += 1;
    const high = this.#classCode();
    if (high < low) throw this.#refusal('invalid character class range');
    return `\\u{${low.toString(16)}}-\\u{${high.toString(16)}}`;
  }

  #classCode(): number {
    if (this.#isOver()) throw this.#refusal('unclosed character class');
    if (this.#looksAt('\\')) return this.#codeEscape();
    const character = this.#next;
    this.#at += character.length;
    return character.codePointAt(0) ?? 0;
  }
}

/** In the words of ripgrep. */
export const newlineRefusal =
  'the pattern does not compile: the literal "\\n" is not allowed in a regex; with multiline it is';

/** Rust takes `\p{Greek}` and any case; the runtime wants `\p{Script=Greek}` and the exact one. */
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
    return false; // No property of that name: the next one is tried.
  }
}
