/**
 * Builds the script that runs a command in fish.
 *
 * A handler of the event before each prompt reports an interrupted command. The event does not fire after `exit`.
 */
import type { ExecDirectory } from '../record.ts';
import { mark, quoteFish, showFormat, taken, upOneRow } from './parts.ts';
import type { ScriptParts } from './script-parts.ts';

export function fishScript({ command, shown, path, token, directory, cols, typedCols }: ScriptParts): string {
  return `set -g __sbx_r $status
if test "$__sbx_l" = ${token}
  set -e __sbx_c
  return $__sbx_r
end
set -g __sbx_t ${token}
set -g __sbx_c ${quoteFish(command)}
function __sbx_m
  builtin printf $argv >/dev/tty
end
function __sbx_s
  return $argv[1]
end
function __sbx_d
  set -l r $status
  __sbx_m '${mark('D', token, ';%s')}' $r
  set -e __sbx_t; set -e __sbx_c; set -e __sbx_p
  return $r
end
function __sbx_prompt --on-event fish_prompt
  set -l r $status
  functions -e __sbx_prompt
  if set -q __sbx_t
    __sbx_m '${mark('H', '%s', ';%s')}' $__sbx_t $r
    set -e __sbx_t
  end
end
${goThere(directory)}set -g __sbx_p (fish_prompt 2>/dev/null)
set -l n (math -s0 "("(string length --visible -- "$__sbx_p[-1]")" + ${typedCols}) / ${cols}" 2>/dev/null; or echo 0)
while test "$n" -gt 0
  __sbx_m '${upOneRow}'
  set n (math $n - 1)
end
set -g __sbx_l ${token}
builtin printf ${taken(quoteFish(path))} 2>/dev/null
__sbx_m '${showFormat(token)}' "$__sbx_p[-1]" ${quoteFish(shown)}
__sbx_s $__sbx_r
`;
}

/** The `cd` of fish keeps symbolic links in the path. */
function goThere(directory: ExecDirectory | null): string {
  if (directory === null) return '';
  const path = quoteFish(directory.path);
  const going = `builtin cd ${path}`;
  const isThere = directory.isLogical ? going : `set -l to (builtin realpath ${path}); and builtin cd $to`;
  const otherwise = directory.isRequired ? `set -g __sbx_c ${quoteFish(going)}` : 'true';
  return `begin; ${isThere}; end >/dev/null 2>/dev/null; or ${otherwise}\n`;
}
