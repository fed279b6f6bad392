/** Splits a command line into words as a POSIX shell does, without expanding anything. */
import { CoreError } from '../../kit/errors.ts';

/** A quoted part, an escaped character, white space, or a plain character. */
const part = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([ \t\r\n]+)|([^'"\\])/y;

/** Throws `bad_argument` for a quote without its end, and for a backslash at the end. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  part.lastIndex = 0;
  for (let at = 0; at < text.length; at = part.lastIndex) {
    const found = part.exec(text);
    if (!found) throw new CoreError('bad_argument', 'the command has a quote or a backslash without its end');
    const [, single, double, escaped, space, plain] = found;
    if (space === undefined)
      word = (word ?? '') + (single ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? escaped ?? plain ?? '');
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}
