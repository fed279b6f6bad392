/**
 * Builds the script that runs a command in zsh.
 *
 * A precmd hook reports an interrupted command and removes itself at the next prompt.
 */
import { quote } from '../../../../kit/text/shell-word.ts';
import { goTo, mark, once, showFormat, taken, upOneRow } from './parts.ts';
import type { ScriptParts } from './script-parts.ts';

export function zshScript({ command, shown, path, token, directory, cols, typedCols }: ScriptParts): string {
  return `__sbx_r=$?
${once(token)}
{
typeset -g __sbx_t=${token} __sbx_c=${quote(command)} __sbx_p=
[[ -o promptsubst ]] && __sbx_p=1
__sbx_m() { \\builtin printf "$@" 2>/dev/null >/dev/tty || \\builtin printf "$@" }
__sbx_d() {
  __sbx_r=$?
  __sbx_m '${mark('D', token, ';%s')}' $__sbx_r
  unset __sbx_t __sbx_c __sbx_p
}
__sbx_s() { return $1 }
__sbx_precmd() {
  local r=$?
  emulate -L zsh
  precmd_functions=(\${precmd_functions:#__sbx_precmd})
  if [[ -n $\{__sbx_t-} ]]; then __sbx_m '${mark('H', '%s', ';%s')}' $__sbx_t $r; unset __sbx_t; fi
  return $r
}
${goTo(directory, '\\builtin cd')}() {
  emulate -L zsh
  typeset -ga precmd_functions
  precmd_functions=(__sbx_precmd \${precmd_functions:#__sbx_precmd})
  [[ -n $__sbx_p ]] && setopt promptsubst
  setopt extendedglob
  local p=\${\${(%%)PS1}##*$'\\n'}
  local plain=\${p//$'\\e'\\[[0-9;?]#[a-zA-Z]/}
  integer n=$(( (\${#plain} + ${typedCols}) / ${cols} ))
  while (( n-- > 0 )); do __sbx_m '${upOneRow}'; done
  typeset -g __sbx_l=${token}
  \\builtin printf ${taken(quote(path))}
  __sbx_m '${showFormat(token)}' "$p" ${quote(shown)}
}
} 2>/dev/null
case $- in *e*) ;; *) __sbx_s $__sbx_r ;; esac
\\builtin eval "$__sbx_c"
__sbx_d
return $__sbx_r
`;
}
