/** Finds the routes that a caller of an unknown path probably meant. */
import { likeness } from '../../kit/text/nearest.ts';
import { routeSynonyms } from './synonyms.ts';

const maxShown = 3;
/** Less than a third of the words in common is chance. */
const minLikeness = 1 / 3;

/**
 * Returns lines of a list of routes, the nearest first; each line begins with a method and a path. For a path that is
 * served with other methods, the only ones that help are of the same words.
 */
export function nearestRoutes(list: string, method: string, path: string, isServed = false): readonly string[] {
  const given = namesIn(path);
  return list
    .trim()
    .split('\n')
    .map((line) => {
      const [own = '', ownPath = ''] = line.split(/:? /, 2);
      const share = likeness(given, namesIn(ownPath), routeSynonyms());
      return { line, share, isSame: own === method, length: ownPath.length };
    })
    .filter(({ share, isSame }) => (isServed ? isSame && share === 1 : share >= minLikeness))
    .toSorted((a, b) => b.share - a.share || Number(b.isSame) - Number(a.isSame) || a.length - b.length)
    .slice(0, maxShown)
    .map(({ line }) => line);
}

/** The words of a path without its version, parameters and ids. */
function namesIn(path: string): string {
  const segments = path.split('/').filter((segment) => /^[a-z_.-]+$/i.test(segment));
  return segments.join('_');
}
