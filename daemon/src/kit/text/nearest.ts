/** Finds the known name that is nearest to a misspelt one: a field, a tool or a route. */

/** Names that stand for one thing, in lower case; a name may be in several groups, and the first one counts first. */
export type Synonyms = readonly (readonly string[])[];

/** Longer names are not compared: the time grows with the product of the lengths. */
const maxCompared = 64;

/** Null when no known name is near. */
export function nearestName(given: string, known: readonly string[], synonyms: Synonyms): string | null {
  if (given.length > maxCompared) return null;
  const spelled = wordsOf(given).join('_');
  const same = known.find((name) => wordsOf(name).join('') === wordsOf(given).join(''));
  if (same !== undefined) return same;
  for (const group of synonyms.filter((names) => names.includes(spelled))) {
    const meant = group.find((name) => known.includes(name));
    if (meant !== undefined) return meant;
  }
  return misspelt(spelled, known) ?? sharesWords(given, known, synonyms);
}

/** ` (did you mean x?)` for an error message; empty when no known name is near. */
export function suggestion(given: string, known: readonly string[], prefix = ''): string {
  const near = nearestName(given, known, []);
  return near === null ? '' : ` (did you mean ${prefix}${near}?)`;
}

/** The share of words that two names have in common, from 0 to 1; synonyms count as one word. */
export function likeness(a: string, b: string, synonyms: Synonyms): number {
  const [ofA, ofB] = [meaningOf(a, synonyms), meaningOf(b, synonyms)];
  const shared = ofA.intersection(ofB).size;
  return shared === 0 ? 0 : shared / ofA.union(ofB).size;
}

/** The known name that takes the fewest changes, if these are few for its length. */
function misspelt(given: string, known: readonly string[]): string | null {
  const near = known
    .map((name) => ({ name, changes: changesBetween(given, name) }))
    .filter(({ name, changes }) => changes <= Math.max(1, Math.floor(Math.min(name.length, given.length) / 3)))
    .toSorted((a, b) => a.changes - b.changes);
  return near[0]?.name ?? null;
}

/** A third of the words in common is a hint, less is chance. */
const minLikeness = 1 / 3;

function sharesWords(given: string, known: readonly string[], synonyms: Synonyms): string | null {
  const near = known
    .map((name) => ({ name, share: likeness(given, name, synonyms) }))
    .filter(({ share }) => share >= minLikeness)
    .toSorted((a, b) => b.share - a.share);
  return near[0]?.name ?? null;
}

/** `fullPage`, `full-page` and `full_page` have the same words. */
function wordsOf(name: string): string[] {
  const parted = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_');
  return parted
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
}

function meaningOf(name: string, synonyms: Synonyms): Set<string> {
  return new Set(wordsOf(name).map((word) => synonyms.find((group) => group.includes(word))?.[0] ?? word));
}

/** Insertions, deletions, replacements and exchanges of neighbours that turn one text into the other (Damerau). */
function changesBetween(a: string, b: string): number {
  let [before, previous] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchange = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (isSame ? 0 : 1),
        isExchange ? before[column - 2]! + 1 : Infinity,
      );
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length]!;
}
