/** Where a command is to run, as a line in front of it. */
import { quote } from '../../../kit/shell-word.ts';
import type { ExecDirectory } from '../exec-record.ts';

/**
 * `cd` is the word for it that nobody has changed. Where the shell cannot go, a command that must run there becomes the
 * `cd` itself: it tells why, and fails.
 */
export function goTo(directory: ExecDirectory | null, cd: string): string {
  if (directory === null) return '';
  const going = `${cd} ${directory.isLogical ? '-L' : '-P'} ${quote(directory.path)}`;
  return `${going} >/dev/null 2>&1 || ${directory.isRequired ? `__sbx_c=${quote(going)}` : ':'}\n`;
}
