/** Reads the flags of a help page: the same table serves the page, the arguments and the completions. */
import type { FlagTable } from '../kit/text/flags.ts';
import type { FlagTexts } from './page.ts';

export interface Flag {
  readonly name: string;
  readonly letter: string | null;
  /** The placeholder of the value, such as DIR; null for a switch. */
  readonly value: string | null;
  readonly text: string;
}

export function flagsOf(flags: FlagTexts = {}): Flag[] {
  return Object.entries(flags).map(([form, text]) => {
    const [, letter = null, name = '', value = null] = /^(?:-(\w), )?--([\w-]+)(?: (\S+))?$/.exec(form) ?? [];
    return { name, letter, value, text };
  });
}

export function tableOf(flags: readonly Flag[]): Required<FlagTable> {
  const [values, switches] = [flags.filter(({ value }) => value !== null), flags.filter(({ value }) => value === null)];
  return {
    values: values.map(({ name }) => name),
    switches: switches.flatMap(({ name, letter }) => (letter === null ? [name] : [name, letter])),
  };
}
