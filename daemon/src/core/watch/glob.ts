/** Matches names and paths against globs, in time that no pattern can blow up. */

/** Alternatives that the braces of one pattern may make. */
const mostAlternatives = 64;

/** `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` within a name, `**` for any number of names. */
export class Glob {
  /** Each alternative as its segments, each of them as tokens; null is `**`. */
  readonly #alternatives: readonly (readonly (readonly Token[] | null)[])[];
  /** Without a `/` the pattern is about the name alone, at any depth. */
  readonly #isOfName: boolean;
  /** `*.pyc` and its like are most of all patterns, and every event is held against them. */
  readonly #ending: string | null;

  constructor(pattern: string) {
    const body = pattern.replace(/^\.\//, '').replace(/\/+$/, '');
    this.#isOfName = !body.includes('/');
    this.#ending = /^\*[^*?[\]{}\\/]+$/.test(body) ? body.slice(1) : null;
    this.#alternatives = expandBraces(body).map((text) =>
      text
        .replace(/^\/+/, '')
        .split('/')
        .map((segment) => (segment === '**' ? null : tokensOf(segment))),
    );
  }

  /** `path` is below the watched directory, without a `/` at either end. */
  matches(path: string): boolean {
    if (this.#ending !== null) return path.endsWith(this.#ending);
    const names = this.#isOfName ? [path.slice(path.lastIndexOf('/') + 1)] : path.split('/');
    return this.#alternatives.some((segments) =>
      matchList(segments, names, isAnyNames, (segment, name) => segment !== null && matchName(segment, name)),
    );
  }
}

type Token = '*' | '?' | { readonly character: string } | { readonly isNegated: boolean; readonly ranges: string[][] };

const isAnyNames = (segment: readonly Token[] | null): boolean => segment === null;
const isStar = (token: Token): boolean => token === '*';

function matchName(tokens: readonly Token[], name: string): boolean {
  return matchList(tokens, Array.from(name), isStar, matchCharacter);
}

/** Only the last star is ever tried anew: what the ones before it took is as good as anything else. */
function matchList<P, T>(
  pattern: readonly P[],
  texts: readonly T[],
  isAny: (part: P) => boolean,
  matchesOne: (part: P, text: T) => boolean,
): boolean {
  let [at, text, star, resume] = [0, 0, -1, 0];
  while (text < texts.length) {
    const part = pattern[at];
    if (part !== undefined && isAny(part)) {
      star = at++;
      resume = text;
    } else if (part !== undefined && matchesOne(part, texts[text] as T)) {
      at += 1;
      text += 1;
    } else if (star >= 0) {
      at = star + 1;
      text = ++resume;
    } else return false;
  }
  return pattern.slice(at).every(isAny);
}

function matchCharacter(token: Token, character: string): boolean {
  if (typeof token === 'string') return token === '?';
  if ('character' in token) return token.character === character;
  const isInside = token.ranges.some(([low = '', high = low]) => low <= character && character <= high);
  return isInside !== token.isNegated;
}

function tokensOf(segment: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\[([!^]?)(\]?[^\]]*)\]|\\(.)|(.)/gsu;
  for (const [, negation = '', set, escaped, plain = ''] of segment.matchAll(pattern)) {
    if (set !== undefined && set !== '') tokens.push({ isNegated: negation !== '', ranges: rangesOf(set) });
    else if (escaped !== undefined) tokens.push({ character: escaped });
    else if (plain === '*' || plain === '?') {
      if (plain === '?' || tokens.at(-1) !== '*') tokens.push(plain);
    } else if (plain !== '') tokens.push({ character: plain });
  }
  return tokens;
}

function rangesOf(set: string): string[][] {
  return [...set.matchAll(/(.)-(.)|(.)/gsu)].map(([, low, high, one]) =>
    low === undefined || high === undefined ? [one ?? ''] : [low, high],
  );
}

/** Innermost braces first; past the bound they stand for themselves. */
function expandBraces(text: string): string[] {
  let texts = [text];
  for (;;) {
    const expanded = texts.flatMap(expandOnce);
    if (expanded.length === texts.length || expanded.length > mostAlternatives) return texts;
    texts = expanded;
  }
}

function expandOnce(text: string): string[] {
  const match = /\{([^{}]*,[^{}]*)\}/.exec(text);
  if (!match) return [text];
  const [whole, inner = ''] = match;
  const before = text.slice(0, match.index);
  const after = text.slice(match.index + whole.length);
  return inner.split(',').map((choice) => before + choice + after);
}
