/** Parses the arguments of a sub-command: flags and words in any order, and the rest after `--`. */
import { readFlags, type FlagTable } from '../kit/text/flags.ts';
import { ClientFailure } from './client/failure.ts';

export interface ArgumentTable extends FlagTable {
  /** Names of the required words, for messages. */
  readonly words: readonly string[];
  readonly optionalWords?: number;
  /** Name of the required rest after `--`; null when no rest is allowed. */
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

  /** The last value of the flag. */
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

/** Throws an Error with one clear line. */
export function readArguments(args: readonly string[], table: ArgumentTable): Arguments {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const rest = end === -1 ? [] : args.slice(end + 1);
  if (before.some(isKey)) throw keyInArguments();
  const { words, given } = readFlags(before, table, (flag) => new ClientFailure(`unknown flag ${flag}`));
  checkWords(words, rest, table);
  return new Arguments(words, rest, given);
}

function checkWords(words: readonly string[], rest: readonly string[], table: ArgumentTable): void {
  const missing = table.words[words.length];
  if (missing !== undefined) throw new ClientFailure(`${missing} is missing`);
  if (table.rest && rest.length === 0) throw new ClientFailure(`${table.rest} is missing; write it after --`);
  if (!table.rest && rest.length > 0) throw new ClientFailure('nothing may follow --');
  if (words.length > table.words.length + (table.optionalWords ?? 0)) {
    throw new ClientFailure(`unexpected argument${table.rest ? `; write ${table.rest} after --` : ''}`);
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
