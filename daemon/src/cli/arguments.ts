/** Parses the arguments of a sub-command: the address of a daemon, flags and words, and a command at the end. */
import { readFlags, type FlagTable } from '../kit/text/flags.ts';
import type { Environment } from '../kit/types/environment.ts';
import { ClientFailure } from './client/failure.ts';
import { flagsOf, tableOf } from './flags.ts';
import type { Page } from './page.ts';

/** What a sub-command takes beside its flags. */
export interface Operands {
  /** Names of the required words behind the address, for messages. */
  readonly words?: readonly string[];
  readonly optionalWords?: number;
  /** The values of the first word, for completions. */
  readonly choices?: readonly string[];
  /** Whether a command has to follow. */
  readonly hasCommand?: boolean;
  /** The sub-command speaks with no daemon, so it takes no address. */
  readonly isLocal?: boolean;
  /** Flags that the launcher adds, each with a value. */
  readonly launcherFlags?: readonly string[];
}

type Verb = Operands & Pick<Page, 'flags'>;
type Table = Required<FlagTable> & Operands;

/** The user wants the help page. */
export class HelpAsked extends Error {}

export class Arguments {
  constructor(
    readonly address: string,
    readonly words: readonly string[],
    readonly command: readonly string[],
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

/** Throws a HelpAsked, or an Error with one clear line. */
export function readArguments(args: readonly string[], verb: Verb, environment: Environment): Arguments {
  const table = tableFor(verb);
  const usualAddress = environment['BOXKEEP_URL'] || null;
  const isAddress = (word: string) =>
    !table.isLocal && !word.startsWith(':') && (usualAddress === null || isAddressForm(word));
  const end = endOfFlags(args, table, isAddress);
  const before = args.slice(0, end);
  if (before.some((word) => word === '--help' || word === '-h')) throw new HelpAsked();
  if (before.some(isKey)) throw keyInArguments();
  const command = args.slice(args[end] === '--' ? end + 1 : end);
  const { words, given } = readFlags(before, table, (flag) => new ClientFailure(`unknown flag ${flag}`));
  const [first] = words;
  const isGiven = first !== undefined && isAddress(first);
  const address = isGiven ? first : usualAddress;
  const others = isGiven ? words.slice(1) : words;
  if (!table.isLocal && address === null)
    throw new ClientFailure('the address of a daemon is missing; write it first, or set BOXKEEP_URL');
  checkWords(others, command, table, !table.isLocal && !isGiven);
  return new Arguments(address ?? '', others, command, given);
}

function tableFor(verb: Verb): Table {
  const { values, switches } = tableOf(flagsOf(verb.flags));
  const others = verb.launcherFlags ?? [];
  return { ...verb, values: [...values, ...others, ...(verb.isLocal ? [] : ['cacert'])], switches };
}

/** What is an address also where BOXKEEP_URL is set: a word with a scheme, or a host with a port. */
function isAddressForm(word: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/|^[^/]+:\d+(?:\/|$)/i.test(word);
}

/** The index of `--`, or of the first word of a command without `--`. */
function endOfFlags(args: readonly string[], table: Table, isAddress: (word: string) => boolean): number {
  let hasAddress = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--') return at;
    const isFlag = word.startsWith('-') && word !== '-';
    const hasValue = isFlag && table.values.includes(word.slice(2)) && args[at + 1] !== '--';
    if (hasValue) at++;
    if (isFlag || !table.hasCommand) continue;
    if (hasAddress || !isAddress(word)) return at;
    hasAddress = true;
  }
  return args.length;
}

function checkWords(
  words: readonly string[],
  command: readonly string[],
  table: Operands,
  isUsualAddress: boolean,
): void {
  const { words: required = [] } = table;
  const missing = required[words.length];
  if (missing !== undefined) throw new ClientFailure(`${missing} is missing`);
  if (table.hasCommand && command.length === 0) throw new ClientFailure('the command is missing');
  if (!table.hasCommand && command.length > 0) throw new ClientFailure('nothing may follow --');
  if (words.length > required.length + (table.optionalWords ?? 0)) {
    const advice = '; BOXKEEP_URL is set, so an address needs a port or http://';
    throw new ClientFailure(`unexpected argument${isUsualAddress ? advice : ''}`);
  }
}

function keyInArguments(): ClientFailure {
  return new ClientFailure(
    'a key in the arguments can be seen in every process list; put it into the environment as SVC_API_KEY',
  );
}

function isKey(word: string): boolean {
  return /^--?(?:svc-|sandbox-)?api[-_]?key(?:=|$)/i.test(word);
}
