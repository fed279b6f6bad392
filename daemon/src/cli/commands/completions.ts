/** `boxkeep completions`: prints the completions of a shell, from the tables of all sub-commands. */
import { ClientFailure } from '../client/failure.ts';
import { bashCompletions } from '../completions/bash.ts';
import { fishCompletions } from '../completions/fish.ts';
import type { Completed } from '../completions/table.ts';
import { zshCompletions } from '../completions/zsh.ts';
import { print } from '../client/standard-streams.ts';
import type { Verb } from '../verb.ts';

const shells: Readonly<Record<string, (table: readonly Completed[]) => string>> = {
  bash: bashCompletions,
  zsh: zshCompletions,
  fish: fishCompletions,
};

export function completions(table: () => readonly Completed[]): Verb {
  return {
    usage: 'completions bash|zsh|fish',
    summary: 'print the completions of a shell',
    details: `Of sub-commands, flags and fixed words; other words are completed as files. Write the output to
  bash  /etc/bash_completion.d/boxkeep
  zsh   _boxkeep in a directory of $fpath
  fish  ~/.config/fish/completions/boxkeep.fish`,
    isLocal: true,
    words: ['the shell'],
    choices: Object.keys(shells),

    async run(given) {
      const write = shells[given.words[0] ?? ''];
      if (!write) throw new ClientFailure(`the shell is one of ${Object.keys(shells).join(', ')}`);
      await print(write(table()));
      return 0;
    },
  };
}
