/** Builds the parts that the scripts of several shells share: quoted text, marks as printf formats, the `cd`. */
import { quote } from '../../../../kit/text/shell-word.ts';
import type { ExecDirectory } from '../record.ts';

/** fish has two escapes inside single quotes. */
export function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** The line that leaves the script if the shell has already begun its command: the line may be typed a second time. */
export function once(token: string): string {
  return `case \${__sbx_l-} in ${token}) return "$__sbx_r" ;; esac`;
}

/** The arguments of `printf` that add a line to the script, after the last line that the shell reads. */
export function taken(quotedPath: string): string {
  return `'\\n' >>${quotedPath}`;
}

/** A printf format that contains nothing a shell would have to quote. */
export function mark(kind: string, token: string, code = ''): string {
  return `\\033]7717;${kind};${token}${code}\\007`;
}

/** Erases one row of the typed line. */
export const upOneRow = '\\033[A\\r\\033[K';

/** Erases the typed line, and shows prompt and command (the two arguments) as if they had been typed. */
export function showFormat(token: string): string {
  return `${upOneRow}${mark('P', token)}%s${mark('B', token)}%s\\n${mark('C', token)}`;
}

/**
 * The line that changes to a command's directory.
 *
 * The argument `cd` is a spelling that aliases and functions cannot change. If the shell cannot enter a required
 * directory, the `cd` replaces the command: it prints the reason and fails.
 */
export function goTo(directory: ExecDirectory | null, cd: string): string {
  if (directory === null) return '';
  const going = `${cd} ${directory.isLogical ? '-L' : '-P'} ${quote(directory.path)}`;
  return `${going} >/dev/null 2>&1 || ${directory.isRequired ? `__sbx_c=${quote(going)}` : ':'}\n`;
}
