/** Counts what a text is made of. */

const word = /\p{Letter}+(?:['’-]\p{Letter}+)*/gu;

/** The words of a text in order, in lower case; an apostrophe or a hyphen inside a word belongs to it. */
export function words(text) {
  return (text.match(word) ?? []).map((found) => found.toLowerCase());
}

/** Lines, words and characters (as a reader counts them, not as bytes). */
export function count(text) {
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return { lines, words: words(text).length, characters: [...text].length };
}

/** The commonest words with how often each occurs; words that tie come in the order of the alphabet. */
export function commonest(text, limit) {
  const times = new Map();
  for (const found of words(text)) times.set(found, (times.get(found) ?? 0) + 1);
  return [...times].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, limit);
}
