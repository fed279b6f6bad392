/**
 * Builds the script that runs a command in bash.
 *
 * A PROMPT_COMMAND hook reports an interrupted command and restores PROMPT_COMMAND at the next prompt.
 */
import { quote } from '../../../../kit/text/shell-word.ts';
import { goTo, mark, once, showFormat, taken, upOneRow } from './parts.ts';
import type { ScriptParts } from './script-parts.ts';

/** A longer line is not added to the history, because no user would edit it again. */
const maxHistoryLine = 4096;

/**
 * No reserved word follows the command: after an incomplete command, bash would read the next line as its continuation.
 * A readonly PROMPT_COMMAND is left alone, because an assignment to it would end the script. A backslash before a name
 * bypasses aliases. The command finds the exit code of the previous command in `$?`; under `set -e` that code is always
 * 0.
 */
export function bashScript({ command, shown, path, token, directory, cols, typedCols }: ScriptParts): string {
  const history = command.length <= maxHistoryLine ? '[[ -o history ]] && \\builtin history -s -- "$__sbx_c"' : ':';
  return `__sbx_r=$?
${once(token)}
{
__sbx_t=${token} __sbx_c=${quote(command)}
__sbx_m() { \\builtin printf "$@" 2>/dev/null >/dev/tty || \\builtin printf "$@"; }
__sbx_d() {
  __sbx_r=$?
  __sbx_m '${mark('D', token, ';%s')}' "$__sbx_r"
  unset __sbx_t __sbx_c
}
__sbx_s() { return "$1"; }
__sbx_fixed() { (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )) && [[ \${PROMPT_COMMAND@a} == *r* ]]; }
__sbx_prompt() {
  local r=$?
  __sbx_fixed || PROMPT_COMMAND=\${PROMPT_COMMAND#__sbx_prompt;}
  if [[ \${__sbx_t-} ]]; then __sbx_m '${mark('H', '%s', ';%s')}' "$__sbx_t" "$r"; unset __sbx_t; fi
  return $r
}
__sbx_fixed || [[ \${PROMPT_COMMAND-} == '__sbx_prompt;'* ]] || PROMPT_COMMAND="__sbx_prompt;\${PROMPT_COMMAND-}"
${history}
${goTo(directory, '\\builtin cd')}__sbx_p=\${PS1-}
if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )); then __sbx_p=\${__sbx_p@P}; fi
__sbx_p=\${__sbx_p##*$'\\n'}
__sbx_w=$__sbx_p
while [[ $__sbx_w == *$'\\001'*$'\\002'* ]]; do __sbx_w=\${__sbx_w%%$'\\001'*}\${__sbx_w#*$'\\002'}; done
for (( __sbx_n = (\${#__sbx_w} + ${typedCols}) / ${cols}; __sbx_n > 0; __sbx_n-- )); do __sbx_m '${upOneRow}'; done
__sbx_l=${token}
\\builtin printf ${taken(quote(path))}
__sbx_m '${showFormat(token)}' "\${__sbx_p//[$'\\001\\002']}" ${quote(shown)}
unset __sbx_p __sbx_w __sbx_n
} 2>/dev/null
case $- in *e*) ;; *) __sbx_s "$__sbx_r" ;; esac
\\builtin eval "$__sbx_c"
__sbx_d
return "$__sbx_r"
`;
}
