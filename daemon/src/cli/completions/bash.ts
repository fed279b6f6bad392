/** Writes the completions for bash. */
import { quoted, type Completed } from './table.ts';

export function bashCompletions(table: readonly Completed[]): string {
  const rows = table.map(({ name, flags, choices }) => {
    const words = flags.flatMap(({ name: flag, letter }) => [...(letter === null ? [] : [`-${letter}`]), `--${flag}`]);
    return `    ${name}) flags=${quoted([...words, '--help'].join(' '))} choices=${quoted(choices.join(' '))} ;;`;
  });
  return `# Completions of boxkeep for bash, from boxkeep completions bash.
_boxkeep() {
  local word=\${COMP_WORDS[COMP_CWORD]} flags='' choices=''
  case \${COMP_WORDS[1]} in
${rows.join('\n')}
  esac
  if ((COMP_CWORD == 1)); then choices=${quoted(table.map(({ name }) => name).join(' '))}; fi
  if [[ $word == -* ]]; then choices=$flags; fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _boxkeep boxkeep`;
}
