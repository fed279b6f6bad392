/** The words and flags that shells complete. */
import { describeSettings } from '../../config.ts';
import type { Operands } from '../arguments.ts';
import { flagsOf, type Flag } from '../flags.ts';
import type { Page } from '../page.ts';

export interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** The values of its first word; empty where any word may stand. */
  readonly choices: readonly string[];
}

const authority: Flag = { name: 'cacert', letter: null, value: 'FILE', text: 'the authority of an https address' };

/** `local` are the pages of sub-commands that speak with no daemon. */
export function completedTable(
  local: Readonly<Record<string, Page>>,
  verbs: Readonly<Record<string, Page & Operands>>,
): Completed[] {
  const names = [...Object.keys(local), ...Object.keys(verbs)];
  const help: Page & Operands = {
    ...{ usage: 'help', summary: 'print a page of help', details: '' },
    ...{ isLocal: true, choices: [...names, 'settings', 'exit-codes'] },
  };
  const ofSettings = describeSettings().map(({ flag, sentence }) => {
    return { name: flag.slice(2), letter: null, value: 'VALUE', text: sentence };
  });
  const rows: [string, Page & Operands][] = [
    ...Object.entries(local).map(([name, page]): [string, Page & Operands] => [name, { ...page, isLocal: true }]),
    ...Object.entries({ ...verbs, help }),
  ];
  return rows.map(([name, { summary, flags, choices = [], isLocal }]) => {
    const others = name === 'start' ? ofSettings : isLocal ? [] : [authority];
    return { name, summary, choices, flags: [...flagsOf(flags), ...others] };
  });
}

/** Files are completed for these placeholders. */
export function isPath({ value }: Flag): boolean {
  return value === 'FILE' || value === 'DIR';
}

/** In single quotes, as bash, zsh and the assignments of these scripts read them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
