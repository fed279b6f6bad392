/** Splits text into runs of characters, each of which the layout and the spare keys can type together. */
import { CoreError } from '../../../kit/errors.ts';
import type { KeyNames } from './key-names.ts';

export interface KeyRun {
  /** The keysyms that satisfy each character. */
  readonly characters: readonly (readonly number[])[];
  /** One keysym for each character that the layout lacks. */
  readonly missing: readonly number[];
}

export interface RunLimits {
  readonly names: KeyNames;
  lacks(keysyms: readonly number[]): boolean;
  readonly maxMissing: number;
}

/** Throws `bad_argument` for a control character, and `unavailable` when there is no spare key at all. */
export function textRuns(text: string, { names, lacks, maxMissing }: RunLimits): KeyRun[] {
  const runs: { characters: (readonly number[])[]; missing: number[] }[] = [{ characters: [], missing: [] }];
  const known = new Map<string, { readonly keysyms: readonly number[]; readonly isMissing: boolean }>();
  for (const character of typedCharacters(text)) {
    const key = known.getOrInsertComputed(character, () => {
      const keysyms = names.keysymsOf(character);
      return { keysyms, isMissing: lacks(keysyms) };
    });
    if (key.isMissing) reserve(key.keysyms, { runs, maxMissing });
    runs.at(-1)?.characters.push(key.keysyms);
  }
  return runs;
}

/** An unpaired surrogate has no keysym, so the replacement character stands for it. */
export function typedCharacters(text: string): string[] {
  return Array.from(text.toWellFormed().replaceAll('\r\n', '\n'));
}

function reserve(
  [keysym = 0]: readonly number[],
  { runs, maxMissing }: { runs: { characters: (readonly number[])[]; missing: number[] }[]; maxMissing: number },
): void {
  const run = runs.at(-1);
  if (!run || run.missing.includes(keysym)) return;
  if (maxMissing === 0) {
    throw new CoreError('unavailable', 'the keyboard layout has no unused keys for characters that it lacks', {
      isRetryable: false,
      hint: 'Type the text through the clipboard.',
    });
  }
  if (run.missing.length < maxMissing) run.missing.push(keysym);
  else runs.push({ characters: [], missing: [keysym] });
}
