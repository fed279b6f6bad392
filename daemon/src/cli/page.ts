/** The help page of a sub-command, printed for `--help`. */

/** The meaning of each flag, by its form: `--cwd DIR`, or `-f, --follow` for one without a value. */
export type FlagTexts = Readonly<Record<string, string>>;

export interface Page {
  /** The text after `boxkeep`. */
  readonly usage: string;
  /** A few words for the list of sub-commands. */
  readonly summary: string;
  readonly flags?: FlagTexts;
  readonly details: string;
  /** The exit codes with a meaning of their own: `0 if …, 1 if …`. */
  readonly exits?: string;
}

export function pageText({ usage, summary, flags = {}, details, exits }: Page): string {
  const parts = [
    `boxkeep ${usage}: ${summary}`,
    flagLines(flags),
    details,
    exits === undefined ? '' : wrapped(`Exit code: ${exits}; boxkeep help exit-codes lists the others.`, 0),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The lines of the list in `boxkeep help`. */
export function listPages(pages: readonly Page[]): string {
  const width = Math.max(...pages.map(({ usage }) => `boxkeep ${usage}`.length));
  return pages.map(({ usage, summary }) => `  ${`boxkeep ${usage}`.padEnd(width)}  ${summary}`).join('\n');
}

export function isHelpAsked(args: readonly string[]): boolean {
  return args.some((word) => word === '--help' || word === '-h');
}

function flagLines(flags: FlagTexts): string {
  const width = Math.max(...Object.keys(flags).map((form) => form.length)) + 4;
  return Object.entries(flags)
    .map(([form, text]) => wrapped(`  ${form}`.padEnd(width) + text, width))
    .join('\n');
}

const maxColumns = 120;

/** Breaks a line between words; the lines after the first begin at `indent`. */
export function wrapped(line: string, indent: number): string {
  if (line.length <= maxColumns) return line;
  const at = line.lastIndexOf(' ', maxColumns);
  return `${line.slice(0, at)}\n${wrapped(' '.repeat(indent) + line.slice(at + 1), indent)}`;
}

/** The end of the page of a sub-command that speaks with a daemon. */
export const connectionHelp = `The address is http://host:port, https://host/prefix, host:port or host. Without one, it is that of BOXKEEP_URL; where
this is set, another address needs a port or http://. --cacert FILE, or BOXKEEP_CACERT, names the authority of an https
address. The key comes from SVC_API_KEY, never from the arguments.`;
