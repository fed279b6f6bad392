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

/** The lines of the list in `boxkeep help`. */
export function listPages(pages: readonly Page[]): string {
  const width = Math.max(...pages.map(({ usage }) => `boxkeep ${usage}`.length));
  return pages.map(({ usage, summary }) => `  ${`boxkeep ${usage}`.padEnd(width)}  ${summary}`).join('\n');
}

export function isHelpAsked(args: readonly string[]): boolean {
  return args.some((word) => word === '--help' || word === '-h');
}

/** The end of the page of a sub-command that speaks with a daemon. */
export const connectionHelp = `The address is http://host:port, https://host/prefix, host:port or host. Without one, it is that of BOXKEEP_URL; where
this is set, another address needs a port or http://. --cacert FILE, or BOXKEEP_CACERT, names the authority of an https
address. The key comes from SVC_API_KEY, never from the arguments.`;
