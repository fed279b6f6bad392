/** Finds the routes that a caller of an unknown path probably meant. */
import { likeness, nearestName } from '../../kit/text/nearest.ts';
import { routeSynonyms } from './synonyms.ts';

const maxShown = 3;
/** Less than a third of the words in common is chance. */
const minLikeness = 1 / 3;

/**
 * Returns lines of a list of routes, the nearest first; each line begins with a method and a path. For a path that is
 * served with other methods, the only ones that help are of the same words.
 */
export function nearestRoutes(list: string, method: string, path: string, isServed = false): readonly string[] {
  const routes = list
    .trim()
    .split('\n')
    .map((line) => ({ line, words: line.split(/:? /, 2) }));
  const known = [...new Set(routes.flatMap(({ words: [, ownPath = ''] }) => wordsIn(ownPath)))];
  const given = wordsIn(path)
    .map((word) => spelled(word, known))
    .join('_');
  return routes
    .map(({ line, words: [own = '', ownPath = ''] }) => {
      const share = likeness(given, wordsIn(ownPath).join('_'), routeSynonyms());
      return { line, share, isSame: own === method, length: ownPath.length };
    })
    .filter(({ share, isSame }) => (isServed ? isSame && share === 1 : share >= minLikeness))
    .toSorted((a, b) => b.share - a.share || Number(b.isSame) - Number(a.isSame) || a.length - b.length)
    .slice(0, maxShown)
    .map(({ line }) => line);
}

/** The words of a path without its version, parameters and ids. */
function wordsIn(path: string): string[] {
  return path.split('/').filter((segment) => /^[a-z_.-]+$/i.test(segment));
}

/** A word that no route has, as the one that it probably is; another word may be a synonym. */
function spelled(word: string, known: readonly string[]): string {
  const isKnown = known.includes(word) || routeSynonyms().some((group) => group.includes(word));
  return isKnown ? word : (nearestName(word, known, []) ?? word);
}
