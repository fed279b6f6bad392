/** Text as one word of fish, and the marks as arguments of a shell's printf. */

/** fish knows two escapes between single quotes. */
export function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A format for printf; what needs quoting in a shell is not in it. */
export function mark(kind: string, token: string, code = ''): string {
  return `\\033]7717;${kind};${token}${code}\\007`;
}

/** One row of the line that was typed is taken back. */
export const upOneRow = '\\033[A\\r\\033[K';

/** Takes the line back that was typed, and shows prompt and command as if they had been: two arguments follow. */
export function showFormat(token: string): string {
  return `${upOneRow}${mark('P', token)}%s${mark('B', token)}%s\\n${mark('C', token)}`;
}
