/**
 * Builds the script that runs a command in dash, busybox ash and similar shells.
 *
 * A mark in PS1 reports an interrupted command, because these shells have no other hook.
 */
import { quote } from '../../../../kit/text/shell-word.ts';
import { goTo, mark, once, showFormat, taken, upOneRow } from './parts.ts';
import type { ScriptParts } from './script-parts.ts';

const promptMark = '\x1b]7717;H;${__sbx_t-};$?\x07';

/** A prompt with expansions is shown as `$ `, because there is no safe way to expand it here. */
export function posixScript({ command, shown, path, token, directory, cols, typedCols }: ScriptParts): string {
  return `__sbx_r=$?
${once(token)}
{
__sbx_t=${token} __sbx_c=${quote(command)}
__sbx_m() { \\printf "$@" 2>/dev/null >/dev/tty || \\printf "$@"; }
__sbx_d() {
  __sbx_r=$?
  __sbx_m '${mark('D', token, ';%s')}' "$__sbx_r"
  unset __sbx_t __sbx_c
}
__sbx_s() { return "$1"; }
${goTo(directory, '\\command cd')}case \${PS1-} in *'7717;H;'*) ;; *) __sbx_p=\${PS1-} PS1=${quote(promptMark)}\${PS1-} ;; esac
case \${__sbx_p-} in *[\\\\\\\`$]*) __sbx_w='$ ' ;; *) __sbx_w=\${__sbx_p-} ;; esac
__sbx_n=$(( (\${#__sbx_w} + ${typedCols}) / ${cols} ))
while [ $__sbx_n -gt 0 ]; do __sbx_m '${upOneRow}'; __sbx_n=$((__sbx_n - 1)); done
__sbx_l=${token}
\\printf ${taken(quote(path))}
__sbx_m '${showFormat(token)}' "$__sbx_w" ${quote(shown)}
unset __sbx_w __sbx_n
} 2>/dev/null
case $- in *e*) ;; *) __sbx_s "$__sbx_r" ;; esac
\\eval "$__sbx_c"
__sbx_d
return "$__sbx_r"
`;
}
