/**
 * Globs over path segments: `*`, `?`, `[a-z]`, `[!a]`, `**` as a whole segment, and optionally `{a,b}`.
 *
 * The project has its own matcher for two properties that libraries do not combine. A match takes at most the length of
 * the name times that of the pattern, for any pattern. A directory walk learns which directories cannot contain
 * matches.
 */

export interface GlobOptions {
  /** Expands `{a,b}` into alternatives; the gitignore format has no such syntax. */
  readonly hasBraces: boolean;
  /** Lets wildcards match names that begin with a dot, as in gitignore files. */
  readonly matchesHidden: boolean;
}

/** Describes why a text is not a valid glob. */
export class GlobError extends Error {}

type Token =
  | { readonly kind: 'literal'; readonly code: number }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'class'; readonly isNegated: boolean; readonly ranges: readonly (readonly [number, number])[] };

type Segment = readonly Token[] | 'any';

/** The progress of a match: positions in the segments of each alternative. Empty when nothing below can match. */
export type GlobState = readonly number[];

export interface GlobStep {
  readonly isMatch: boolean;
  readonly next: GlobState;
}

/** No hand-written pattern has so many alternatives. */
const maxAlternatives = 1024;
/** Positions of all alternatives share one number range; each alternative occupies one stride. */
const stride = 4096;

export class Glob {
  readonly #alternatives: readonly (readonly Segment[])[];
  readonly #matchesHidden: boolean;
  readonly start: GlobState;

  /** Throws `GlobError`. */
  constructor(pattern: string, { hasBraces, matchesHidden }: GlobOptions) {
    this.#alternatives = (hasBraces ? expandBraces(pattern) : [pattern]).map(parseSegments);
    this.#matchesHidden = matchesHidden;
    if (this.#alternatives.some(({ length }) => length >= stride)) throw new GlobError('it has too many segments');
    this.start = this.#withPositionsBehind(this.#alternatives.map((_, index) => index * stride));
  }

  /** Advances the match by one more name, one level down. */
  step(state: GlobState, name: string): GlobStep {
    return this.#advance(state, name, !this.#matchesHidden && name.startsWith('.'));
  }

  /** Whether the glob skips an entry, or entries below it, only because the name begins with a dot. */
  hides(state: GlobState, name: string, isDirectory: boolean): boolean {
    if (this.#matchesHidden || !name.startsWith('.')) return false;
    const [own, shown] = [this.#advance(state, name, true), this.#advance(state, name, false)];
    return (shown.isMatch && !own.isMatch) || (isDirectory && shown.next.length > own.next.length);
  }

  #advance(state: GlobState, name: string, hidden: boolean): GlobStep {
    const next: number[] = [];
    let isMatch = false;
    for (const position of state) {
      const segments = this.#alternatives[Math.floor(position / stride)]!;
      const at = position % stride;
      const segment = segments[at];
      if (segment === undefined) continue;
      const isLast = at === segments.length - 1;
      if (segment === 'any') {
        if (hidden) continue;
        isMatch ||= isLast;
        next.push(position);
      } else if (!(hidden && !startsWithDot(segment)) && matchSegment(segment, name)) {
        isMatch ||= isLast;
        if (!isLast) next.push(position + 1);
      }
    }
    return { isMatch, next: this.#withPositionsBehind(next) };
  }

  matches(names: readonly string[]): boolean {
    let state = this.start;
    let isMatch = false;
    for (const name of names) ({ isMatch, next: state } = this.step(state, name));
    return isMatch;
  }

  /** Adds the positions behind `**`, because `**` also matches zero levels. */
  #withPositionsBehind(positions: readonly number[]): GlobState {
    const settled = new Set<number>();
    for (let position of positions) {
      settled.add(position);
      const segments = this.#alternatives[Math.floor(position / stride)]!;
      while (segments[position % stride] === 'any') settled.add(++position);
    }
    return [...settled];
  }
}

/** Returns one pattern for each choice. Braces may be nested; braces in a class or after a backslash are literal. */
export function expandBraces(pattern: string): string[] {
  const open = findBrace(pattern);
  if (open === null) return [pattern];
  const before = pattern.slice(0, open.from);
  const after = pattern.slice(open.to + 1);
  const expanded = open.choices.flatMap((choice) => expandBraces(before + choice + after));
  if (expanded.length > maxAlternatives) throw new GlobError(`it has more than ${maxAlternatives} alternatives`);
  return expanded;
}

interface Brace {
  readonly from: number;
  readonly to: number;
  readonly choices: readonly string[];
}

function findBrace(pattern: string): Brace | null {
  let depth = 0;
  let [from, begin] = [0, 0];
  const choices: string[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '[') at = classEnd(pattern, at) ?? at;
    else if (character === '{' && depth++ === 0) [from, begin] = [at, at + 1];
    else if (character === ',' && depth === 1) {
      choices.push(pattern.slice(begin, at));
      begin = at + 1;
    } else if (character === '}' && --depth === 0) {
      return { from, to: at, choices: [...choices, pattern.slice(begin, at)] };
    }
    if (depth < 0) throw new GlobError('it has a } without a {');
  }
  if (depth > 0) throw new GlobError('it has a { without a }');
  return null;
}

/** The index where a class that opens at `from` closes; null when it does not close. A leading `]` is a member. */
function classEnd(pattern: string, from: number): number | null {
  let at = from + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[' && pattern[at + 1] === ':') {
      const close = pattern.indexOf(':]', at + 2);
      if (close !== -1) at = close + 1;
    } else if (pattern[at] === ']') return at;
  }
  return null;
}

function parseSegments(pattern: string): Segment[] {
  const segments: Segment[] = [];
  let tokens: Token[] = [];
  let text = '';
  const close = (): void => {
    if (text === '**') segments.push('any');
    else segments.push(tokens);
    [tokens, text] = [[], ''];
  };
  for (let at = 0; at < pattern.length;) {
    if (pattern[at] === '/') {
      close();
      at += 1;
      continue;
    }
    const { token, length } = parseToken(pattern, at);
    const isRepeated = token.kind === 'many' && tokens.at(-1)?.kind === 'many';
    if (!isRepeated) tokens.push(token);
    text += pattern.slice(at, at + length);
    at += length;
  }
  close();
  return segments.filter((segment, index) => segment !== 'any' || segments[index - 1] !== 'any');
}

function parseToken(pattern: string, at: number): { token: Token; length: number } {
  switch (pattern[at]) {
    case '*':
      return { token: { kind: 'many' }, length: 1 };
    case '?':
      return { token: { kind: 'one' }, length: 1 };
    case '[': {
      const end = classEnd(pattern, at);
      if (end === null) throw new GlobError('it has a [ without a ]');
      return { token: parseClass(pattern.slice(at + 1, end)), length: end + 1 - at };
    }
    case '\\': {
      const code = pattern.codePointAt(at + 1);
      if (code === undefined) throw new GlobError('it ends with a backslash');
      return { token: { kind: 'literal', code }, length: 1 + widthOf(code) };
    }
    default: {
      const code = pattern.codePointAt(at) ?? 0;
      return { token: { kind: 'literal', code }, length: widthOf(code) };
    }
  }
}

const posixClasses: Readonly<Record<string, readonly (readonly [number, number])[]>> = Object.fromEntries(
  Object.entries({
    alnum: '09AZaz',
    alpha: 'AZaz',
    blank: '\t\t  ',
    cntrl: '\0\x1f\x7f\x7f',
    digit: '09',
    graph: '!~',
    lower: 'az',
    print: ' ~',
    punct: '!/:@[`{~',
    space: '\t\r  ',
    upper: 'AZ',
    xdigit: '09AFaf',
  }).map(([name, ends]) => [name, pairs(ends)]),
);

function pairs(ends: string): [number, number][] {
  return (ends.match(/[\s\S]{2}/g) ?? []).map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]);
}

function parseClass(body: string): Token {
  const isNegated = body.startsWith('!') || body.startsWith('^');
  const ranges: (readonly [number, number])[] = [];
  for (let at = isNegated ? 1 : 0; at < body.length;) {
    const posix = /^\[:(\w+):\]/.exec(body.slice(at));
    if (posix) {
      const known = posixClasses[posix[1] ?? ''];
      if (!known) throw new GlobError(`[:${posix[1]}:] is not a character class`);
      ranges.push(...known);
      at += posix[0].length;
      continue;
    }
    const low = classMember(body, at);
    at += low.length;
    const isRange = body[at] === '-' && at + 1 < body.length;
    const high = isRange ? classMember(body, at + 1) : low;
    if (isRange) at += 1 + high.length;
    ranges.push([low.code, high.code]);
  }
  return { kind: 'class', isNegated, ranges };
}

function classMember(body: string, at: number): { code: number; length: number } {
  const isEscaped = body[at] === '\\' && at + 1 < body.length;
  const code = body.codePointAt(isEscaped ? at + 1 : at) ?? 0;
  return { code, length: widthOf(code) + (isEscaped ? 1 : 0) };
}

function widthOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}

function startsWithDot(tokens: readonly Token[]): boolean {
  const [first] = tokens;
  return first?.kind === 'literal' && first.code === 0x2e;
}

/** Backtracks only to the last `*`, so that no pattern takes exponential time. */
function matchSegment(tokens: readonly Token[], name: string): boolean {
  let [at, token] = [0, 0];
  let star: { readonly token: number; at: number } | null = null;
  while (at < name.length) {
    const code = name.codePointAt(at) ?? 0;
    const wanted = tokens[token];
    if (wanted?.kind === 'many') {
      star = { token, at };
      token += 1;
    } else if (wanted !== undefined && matchOne(wanted, code)) {
      token += 1;
      at += widthOf(code);
    } else if (star) {
      star.at += widthOf(name.codePointAt(star.at) ?? 0);
      at = star.at;
      token = star.token + 1;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'many') token += 1;
  return token === tokens.length;
}

function matchOne(token: Token, code: number): boolean {
  switch (token.kind) {
    case 'literal':
      return token.code === code;
    case 'one':
      return true;
    case 'many':
      return false;
    case 'class':
      return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.isNegated;
  }
}
