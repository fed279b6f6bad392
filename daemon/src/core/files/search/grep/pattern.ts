/**
 * Translates ripgrep patterns (Rust's regex) for the JavaScript engine. Refuses patterns that JavaScript cannot express
 * or that Rust's regex refuses. Bytes that are not UTF-8 are lone surrogates in the text, and as in Rust, no class and
 * no dot matches them.
 */
import { ClassTranslation, stray, wordMembers } from './pattern-class.ts';
import { PatternCursor } from './pattern-cursor.ts';
import { PatternError } from './query.ts';

export interface PatternOptions {
  readonly isFixed: boolean;
  readonly isCaseInsensitive: boolean;
  readonly isMultiline: boolean;
  readonly hasLookAround: boolean;
}

const isWord = `[${wordMembers}]`;
const atWordBoundary = `(?:(?<=${isWord})(?!${isWord})|(?<!${isWord})(?=${isWord}))`;
const notAtWordBoundary = `(?:(?<=${isWord})(?=${isWord})|(?<!${isWord})(?!${isWord}))`;

const atLineStart = '(?<![^\\n])';
const atLineEnd = '(?![^\\n])';

const refusedFlags: Readonly<Record<string, string>> = { x: 'comments', U: 'swapped greed', R: 'CRLF' };

/** Returns a global expression that finds all matches in a text of many lines. Throws `PatternError`. */
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
  readonly #cursor: PatternCursor;
  readonly #classes: ClassTranslation;
  #dotMatchesNewline: boolean;
  #isByLine = true;
  private readonly isMultiline: boolean;
  private readonly hasLookAround: boolean;

  constructor(pattern: string, { isMultiline, hasLookAround }: PatternOptions) {
    this.#cursor = new PatternCursor(pattern);
    this.#classes = new ClassTranslation(this.#cursor, isMultiline);
    this.isMultiline = isMultiline;
    this.hasLookAround = hasLookAround;
    this.#dotMatchesNewline = isMultiline;
  }

  whole(): string {
    const source = this.#alternatives();
    if (!this.#cursor.isOver) throw this.#cursor.refusal('unopened group');
    return source;
  }

  /** Translates up to the end, or up to the `)` of a group. Flags apply until the end of their group. */
  #alternatives(): string {
    const [dot, byLine] = [this.#dotMatchesNewline, this.#isByLine];
    let source = '';
    // A flag also applies to the alternatives after it, but a JavaScript group does not. Therefore the translation
    // repeats the group in each alternative.
    let [openers, closers] = ['', ''];
    while (!this.#cursor.isOver && !this.#cursor.looksAt(')')) {
      if (this.#cursor.looksAt('|')) {
        source += `${closers}|${openers}`;
        this.#cursor.at += 1;
        continue;
      }
      const flags = /^\(\?([a-zA-Z-]*)\)/.exec(this.#cursor.rest);
      if (flags) {
        const letters = this.#readFlags(flags[1] ?? '');
        this.#cursor.at += flags[0].length;
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
    if (/^[*+?{]/.test(this.#cursor.next)) throw this.#cursor.refusal('repetition operator missing expression');
    let source = this.#atom();
    for (;;) {
      const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#cursor.rest);
      if (!found) {
        if (this.#cursor.looksAt('{')) throw this.#cursor.refusal('repetition quantifier expects a valid decimal');
        return source;
      }
      if (found[2] && Number(found[2]) < Number(found[1])) throw this.#cursor.refusal('invalid repetition count range');
      source = `(?:${source})${found[0]}`;
      this.#cursor.at += found[0].length;
    }
  }

  #atom(): string {
    const character = this.#cursor.next;
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#classes.bracketed();
      case '\\':
        return this.#escape();
      case '.':
        this.#cursor.at += 1;
        return this.#dotMatchesNewline ? `[^${stray}]` : `[^\\n${stray}]`;
      case '^':
        this.#cursor.at += 1;
        return this.#isByLine ? atLineStart : this.#textStart();
      case '$':
        this.#cursor.at += 1;
        return this.#isByLine ? atLineEnd : this.#textEnd();
      default:
        this.#cursor.at += character.length;
        return escapeCode(character.codePointAt(0) ?? 0);
    }
  }

  /** In a line-by-line search, each line is a separate text. */
  #textStart(): string {
    return this.isMultiline ? '(?<![\\u{0}-\\u{10FFFF}])' : atLineStart;
  }

  #textEnd(): string {
    return this.isMultiline ? '(?![\\u{0}-\\u{10FFFF}])' : atLineEnd;
  }

  #group(): string {
    const head = /^\((?:\?(?:P?<([A-Za-z_][\w.[\]]*)>|([a-zA-Z-]*):))?/.exec(this.#cursor.rest);
    const look = /^\(\?<?[=!]/.exec(this.#cursor.rest)?.[0];
    if (look !== undefined) return this.#lookAround(look);
    if (!head || (head[0] === '(' && this.#cursor.looksAt('(?'))) throw this.#cursor.refusal('unrecognized flag');
    const [dot, byLine] = [this.#dotMatchesNewline, this.#isByLine];
    const letters = this.#readFlags(head[2] ?? '');
    this.#cursor.at += head[0].length;
    const inner = this.#alternatives();
    [this.#dotMatchesNewline, this.#isByLine] = [dot, byLine];
    this.#endGroup();
    return `(?${letters}:${inner})`;
  }

  #endGroup(): void {
    if (!this.#cursor.looksAt(')')) throw this.#cursor.refusal('unclosed group');
    this.#cursor.at += 1;
  }

  #lookAround(head: string): string {
    if (!this.hasLookAround) {
      throw this.#cursor.refusal('look-around, including look-ahead and look-behind, is not supported');
    }
    this.#cursor.at += head.length;
    const inner = this.#alternatives();
    this.#endGroup();
    return `${head}${inner})`;
  }

  /** Applies the flags that the translation handles, and returns the engine's flags: `i`, `-i` or an empty string. */
  #readFlags(flags: string): string {
    let isOn = true;
    let letters = '';
    for (const flag of flags) {
      if (flag === '-') isOn = false;
      else if (flag === 's') this.#dotMatchesNewline = isOn && this.isMultiline;
      else if (flag === 'm') this.#isByLine = isOn;
      else if (flag === 'i') letters = isOn ? 'i' : '-i';
      else if (flag !== 'u' || !isOn) {
        throw this.#cursor.refusal(
          `the flag ${flag} (${refusedFlags[flag] ?? 'none of Rust’s'}) is not known to the built-in engine`,
        );
      }
    }
    return letters;
  }

  #escape(): string {
    const rest = this.#cursor.rest.slice(1);
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
      this.#cursor.at += 2;
      return assertion;
    }
    const members = this.#classes.classEscape();
    if (members !== null) return this.#classes.close(members, false);
    const code = this.#classes.codeEscape();
    if (code === 10 && !this.isMultiline) throw new PatternError(newlineRefusal);
    return escapeCode(code);
  }
}

/** The wording of ripgrep. */
export const newlineRefusal = 'the pattern does not compile: the literal "\\n" is not allowed in a regex';
