/** The help page of a sub-command, printed for `--help`. */

export interface Page {
  /** The text after `boxkeep`. */
  readonly usage: string;
  /** A few words for the list of sub-commands. */
  readonly summary: string;
  readonly details: string;
}

export function pageText({ usage, summary, details }: Page): string {
  return `boxkeep ${usage}: ${summary}\n\n${details}`;
}

/** The lines of the list in `boxkeep --help`. */
export function listPages(pages: readonly Page[]): string {
  const width = 33;
  return pages.map(({ usage, summary }) => `  ${`boxkeep ${usage}`.padEnd(width)}  ${summary}`).join('\n');
}

/** Whether --help is given. Words after `--` belong to the command that is run. */
export function isHelpAsked(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h');
}
