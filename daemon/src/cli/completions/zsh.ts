/** Writes the completions for zsh. */
import { isPath, quoted, type Completed } from './table.ts';

export function zshCompletions(table: readonly Completed[]): string {
  const rows = table.map(({ name, flags, choices }) => {
    const specs = flags.flatMap((flag) => {
      const value = flag.value === null ? '' : `:${flag.value}:${isPath(flag) ? '_files' : ' '}`;
      const forms = [...(flag.letter === null ? [] : [`-${flag.letter}`]), `--${flag.name}`];
      return forms.map((form) => quoted(`*${form}[${escaped(flag.text)}]${value}`));
    });
    const words = choices.length === 0 ? '*:file:_files' : `*:word:(${choices.join(' ')})`;
    return `    ${name}) _arguments ${[...specs, quoted(words)].join(' ')} ;;`;
  });
  const names = table.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(':', String.raw`\:`)}`));
  return `#compdef boxkeep
# Completions of boxkeep for zsh, from boxkeep completions zsh.
_boxkeep() {
  local -a verbs
  verbs=(${names.join(' ')})
  if ((CURRENT == 2)); then
    _describe 'sub-command' verbs
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${rows.join('\n')}
  esac
}
if [[ $funcstack[1] == _boxkeep ]]; then _boxkeep "$@"; else compdef _boxkeep boxkeep; fi`;
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}
