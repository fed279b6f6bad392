/** Parses command-line flags, for the daemon and for every sub-command. */
import { parseArgs } from 'node:util';
import { suggestion } from './nearest.ts';

export interface FlagTable {
  /** Flags with a value, by name without dashes. */
  readonly values?: readonly string[];
  /** Flags without a value; `f` is `-f`. */
  readonly switches?: readonly string[];
}

export interface Flags {
  /** Arguments that are not flags. */
  readonly words: readonly string[];
  /** The values of each given flag; a switch has empty ones. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/**
 * Messages contain flag names but never values, because a value may be a secret. `unknownFlag` gets the flag, with the
 * known one that was probably meant.
 */
export function readFlags(
  args: readonly string[],
  { values = [], switches = [] }: FlagTable,
  unknownFlag: (flag: string) => Error,
): Flags {
  const options = Object.fromEntries([
    ...values.map((name) => [name, { type: 'string' as const }] as const),
    ...switches.map((name) => [name, { type: 'boolean' as const, ...(name.length === 1 && { short: name }) }] as const),
  ]);
  // Not strict: the messages of parseArgs itself describe its options and contain values.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const words: string[] = [];
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const isSwitch = switches.includes(name);
    if (!isSwitch && !values.includes(name)) {
      const known = [...values, ...switches].filter((each) => each.length > 1);
      throw unknownFlag(`${rawName}${suggestion(name, known, '--')}`);
    }
    if (isSwitch && value !== undefined) throw new Error(`${rawName} takes no value`);
    if (!isSwitch && value === undefined) throw new Error(`${rawName} needs a value`);
    given.set(name, [...(given.get(name) ?? []), value ?? '']);
  }
  return { words, given };
}
