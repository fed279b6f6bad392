/** Reads the arguments of a sub-command: flags and words in any order, and what stands behind `--`. */
import { ClientFailure } from './failure.ts';

export interface ArgumentTable {
  /** Flags with a value, by their name without dashes. */
  readonly values?: readonly string[];
  /** Flags without one; `f` is `-f`. */
  readonly switches?: readonly string[];
  /** Names of the words that must be there, for messages. */
  readonly words: readonly string[];
  /** How many more there may be. */
  readonly optionalWords?: number;
  /** What must stand behind `--`; null where nothing may. */
  readonly rest?: string | null;
}

export class Arguments {
  constructor(
    readonly words: readonly string[],
    readonly rest: readonly string[],
    private readonly given: ReadonlyMap<string, readonly string[]>,
  ) {}

  has(flag: string): boolean {
    return this.given.has(flag);
  }

  /** The last one wins. */
  value(flag: string): string | null {
    return this.given.get(flag)?.at(-1) ?? null;
  }

  all(flag: string): readonly string[] {
    return this.given.get(flag) ?? [];
  }

  /** A number of at least `least`; null when the flag is not given. */
  number(flag: string, least: number): number | null {
    const text = this.value(flag);
    if (text === null) return null;
    const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least)) throw new ClientFailure(`--${flag} needs a number of at least ${least}`);
    return number;
  }
}

/** Messages name flags and never show their values: one may be a secret. Throws a ClientFailure. */
export function readArguments(args: readonly string[], table: ArgumentTable): Arguments {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const rest = end === -1 ? [] : args.slice(end + 1);
  if (before.some(isKey)) throw keyInArguments();
  const words: string[] = [];
  const given = new Map<string, string[]>();
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? '';
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const [, name = '', joined] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const isSwitch = table.switches?.includes(name) ?? false;
    if (!isSwitch && !table.values?.includes(name)) throw new ClientFailure(`unknown flag ${word.split('=')[0] ?? ''}`);
    if (isSwitch && joined !== undefined) throw new ClientFailure(`--${name} takes no value`);
    const value = isSwitch ? '' : (joined ?? before[++at]);
    if (value === undefined) throw new ClientFailure(`--${name} needs a value`);
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  checkWords(words, rest, table);
  return new Arguments(words, rest, given);
}

function checkWords(words: readonly string[], rest: readonly string[], table: ArgumentTable): void {
  const missing = table.words[words.length];
  if (missing !== undefined) throw new ClientFailure(`${missing} is missing`);
  if (table.rest && rest.length === 0) throw new ClientFailure(`${table.rest} is missing; it stands behind --`);
  if (!table.rest && rest.length > 0) throw new ClientFailure('nothing may stand behind --');
  if (words.length > table.words.length + (table.optionalWords ?? 0)) {
    throw new ClientFailure(`one word too many${table.rest ? `; ${table.rest} stands behind --` : ''}`);
  }
}

export function keyInArguments(): ClientFailure {
  return new ClientFailure(
    'a key in the arguments can be seen in every process list; put it into the environment as SVC_API_KEY',
  );
}

function isKey(word: string): boolean {
  return /^--?(?:svc-|sandbox-)?api[-_]?key(?:=|$)/i.test(word);
}
