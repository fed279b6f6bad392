/** Writes the completions for fish. */
import { isPath, type Completed } from './table.ts';

export function fishCompletions(table: readonly Completed[]): string {
  const names = table.map(
    ({ name, summary }) => `complete -c boxkeep -n __fish_use_subcommand -f -a ${name} -d ${fishQuoted(summary)}`,
  );
  const others = table.flatMap(({ name, flags, choices }) => {
    const seen = `complete -c boxkeep -n '__fish_seen_subcommand_from ${name}'`;
    const lines = flags.map((flag) => {
      const letter = flag.letter === null ? '' : ` -s ${flag.letter}`;
      const value = flag.value === null ? '' : isPath(flag) ? ' -rF' : ' -x';
      return `${seen}${letter} -l ${flag.name}${value} -d ${fishQuoted(flag.text)}`;
    });
    return choices.length === 0 ? lines : [...lines, `${seen} -f -a ${fishQuoted(choices.join(' '))}`];
  });
  return ['# Completions of boxkeep for fish, from boxkeep completions fish.', ...names, ...others].join('\n');
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
